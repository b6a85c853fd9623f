/* A load generator: plays many bots at once, each on a connection of its own, with epoll.
 * Usage: load HOST PORT BOTS [patient]    connects, says hello with tokens t1, t2, ..., answers every request with its
 *                                         first legal move, and ends when the server has closed every connection.
 * It never sleeps, because waking it would cost the server; a patient one does, and can share a core with the server. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM (1 << 17)

struct bot {
    int socket, number;
    size_t filled;
    char *buffer;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void say(struct bot *bot, const char *text, int length)
{
    if (send(bot->socket, text, length, MSG_NOSIGNAL) != length && errno != EPIPE && errno != ECONNRESET)
        fail("send");
}

/* The messages of our own server only: the fields stand in the order in which it writes them. */
static void answer(struct bot *bot, char *line)
{
    char text[512];
    if (strncmp(line, "{\"type\":\"hello\"", 15) == 0) {
        say(bot, text, snprintf(text, sizeof text, 
                           "{\"type\":\"hello\",\"protocol\":1,\"name\":\"b%d\",\"token\":\"t%d\"}\n", bot->number, bot->number));
    } else if (strncmp(line, "{\"type\":\"request\"", 17) == 0) {
        long long id = atoll(strstr(line, "\"id\":") + 5);
        char *move = strstr(line, "\"legal\":[\"") + 10;
        *strchr(move, '"') = '\0';
        say(bot, text, snprintf(text, sizeof text, "{\"type\":\"action\",\"id\":%lld,\"move\":\"%s\"}\n", id, move));
    }
}

/* Returns 0 when the connection has ended. */
static int listen_to(struct bot *bot)
{
    ssize_t got = recv(bot->socket, bot->buffer + bot->filled, ROOM - bot->filled - 1, 0);
    if (got <= 0)
        return 0;
    bot->filled += got;
    bot->buffer[bot->filled] = '\0';
    char *line = bot->buffer, *end;
    while ((end = memchr(line, '\n', bot->buffer + bot->filled - line))) {
        *end = '\0';
        answer(bot, line);
        line = end + 1;
    }
    bot->filled -= line - bot->buffer;
    memmove(bot->buffer, line, bot->filled);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int patience = argc > 4 ? -1 : 0;
    int count = atoi(argv[3]), open = count, events = epoll_create1(0);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    inet_pton(AF_INET, argv[1], &server.sin_addr);
    struct bot *bots = calloc(count, sizeof *bots);
    for (int number = 0; number < count; number++) {
        struct bot *bot = &bots[number];
        int yes = 1;
        bot->number = number + 1;
        bot->buffer = malloc(ROOM);
        bot->socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(bot->socket, (struct sockaddr *)&server, sizeof server))
            fail("connect");
        setsockopt(bot->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = bot};
        epoll_ctl(events, EPOLL_CTL_ADD, bot->socket, &event);
    }
    while (open) {
        struct epoll_event ready[256];
        int found = epoll_wait(events, ready, 256, patience);
        for (int each = 0; each < found; each++) {
            struct bot *bot = ready[each].data.ptr;
            if (!listen_to(bot)) {
                epoll_ctl(events, EPOLL_CTL_DEL, bot->socket, NULL);
                close(bot->socket);
                open--;
            }
        }
    }
    return 0;
}
