/* What strangers do at a server, as fast as one core can, with epoll.
 * Usage: siege HOST PORT SOURCE CONNECTIONS SECONDS MANNER [PAYLOAD]
 *   SOURCE       the address to come from; an offset of 127.0.0.0/8, as HOST has to be
 *   CONNECTIONS  at once; one that ends is made again
 *   MANNER       rest     only keep this core busy
 *                flood    connect, and reset the connection at once
 *                silent   connect and say nothing
 *                slow     say the payload byte by byte, a byte each 5 ms
 *                say      say the payload, again and again until the server ends the connection
 *                deaf     say the payload once, and never read
 *                storm    say the payload with the session of the last welcome in the place of its %s; come again when welcomed
 *   PAYLOAD      a file
 * Prints how many connections it made. It ends by itself after SECONDS, which are 60 at most. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 4000
#define ROOM (1 << 16)

static struct sockaddr_in server = {.sin_family = AF_INET}, source = {.sin_family = AF_INET};
static char payload[1 << 20], session[256], heard[ROOM];
static size_t length;
static const char *manner;
static int events;
static long made;
static struct visitor {
    int socket;
    size_t said;
    double next;
} visitors[MOST];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int is(const char *word)
{
    return strcmp(manner, word) == 0;
}

static void leave(struct visitor *visitor)
{
    struct linger reset = {1, 0};  /* else every port would stay in use for a minute */
    setsockopt(visitor->socket, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(visitor->socket);
    visitor->socket = -1;
}

static void come(struct visitor *visitor)
{
    int small = 4096;
    visitor->said = 0;
    visitor->next = now();
    visitor->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (visitor->socket < 0)
        return;
    if (is("deaf"))
        setsockopt(visitor->socket, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (bind(visitor->socket, (struct sockaddr *)&source, sizeof source)
        || (connect(visitor->socket, (struct sockaddr *)&server, sizeof server) && errno != EINPROGRESS)) {
        close(visitor->socket);  /* no port is free: again later */
        visitor->socket = -1;
        return;
    }
    made++;
    if (is("flood")) {
        leave(visitor);
        return;
    }
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = visitor};
    if (is("say") || is("deaf"))
        event.events |= EPOLLOUT;
    epoll_ctl(events, EPOLL_CTL_ADD, visitor->socket, &event);
}

static void say(struct visitor *visitor, size_t most)
{
    if (visitor->said >= length) {
        if (!is("say"))
            return;
        visitor->said = 0;
    }
    size_t left = length - visitor->said;
    ssize_t sent = send(visitor->socket, payload + visitor->said, left < most ? left : most, MSG_NOSIGNAL);
    if (sent > 0)
        visitor->said += sent;
    if (is("deaf") && visitor->said >= length) {
        struct epoll_event event = {.events = EPOLLRDHUP, .data.ptr = visitor};
        epoll_ctl(events, EPOLL_CTL_MOD, visitor->socket, &event);
    }
}

/* Our own server only: the fields stand in the order in which it writes them. */
static void storm(struct visitor *visitor)
{
    static char text[ROOM];
    char *found;
    if (strstr(heard, "\"type\":\"hello\"")) {
        int size = snprintf(text, sizeof text, payload, session);
        if (size >= ROOM || send(visitor->socket, text, size, MSG_NOSIGNAL) != size)
            leave(visitor);
    } else if ((found = strstr(heard, "\"session\":\""))) {
        sscanf(found + 11, "%200[^\"]", session);
        close(visitor->socket);
        visitor->socket = -1;
    }
}

/* Whatever the server says; returns 0 once it has closed the connection. */
static int hear(struct visitor *visitor)
{
    ssize_t got = recv(visitor->socket, heard, sizeof heard - 1, 0);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    heard[got] = '\0';
    if (is("storm"))
        storm(visitor);
    return 1;
}

static void serve(struct visitor *visitor, unsigned what)
{
    if (what & (EPOLLERR | EPOLLHUP) || (is("deaf") && what & EPOLLRDHUP)) {
        leave(visitor);
        return;
    }
    if (what & EPOLLIN && !is("deaf") && !hear(visitor)) {
        leave(visitor);
        return;
    }
    if (visitor->socket >= 0 && what & EPOLLOUT)
        say(visitor, length);
}

int main(int argc, char **argv)
{
    if (argc < 7 || strncmp(argv[1], "127.", 4) || strncmp(argv[3], "127.", 4))
        return 2;
    inet_pton(AF_INET, argv[1], &server.sin_addr);
    server.sin_port = htons(atoi(argv[2]));
    inet_pton(AF_INET, argv[3], &source.sin_addr);
    int count = atoi(argv[4]), seconds = atoi(argv[5]);
    manner = argv[6];
    count = count < MOST ? count : MOST;
    double end = now() + (seconds < 60 ? seconds : 60);
    if (argc > 7) {
        int file = open(argv[7], O_RDONLY);
        ssize_t got = file < 0 ? -1 : read(file, payload, sizeof payload - 1);
        if (got < 0) {
            perror(argv[7]);
            return 1;
        }
        length = got;
        close(file);
    }
    events = epoll_create1(0);
    for (int each = 0; each < count; each++)
        visitors[each].socket = -1;
    while (is("rest") && now() < end)
        ;
    while (now() < end) {
        struct epoll_event ready[256];
        int found = is("flood") ? 0 : epoll_wait(events, ready, 256, 1);
        for (int each = 0; each < found; each++) {
            struct visitor *visitor = ready[each].data.ptr;
            if (visitor->socket >= 0)
                serve(visitor, ready[each].events);
        }
        double time = now();
        for (int each = 0; each < count; each++) {
            struct visitor *visitor = &visitors[each];
            if (visitor->socket < 0) {
                come(visitor);
            } else if (is("slow") && visitor->next <= time) {
                visitor->next = time + 0.005;
                say(visitor, 1);
            }
        }
    }
    printf("%ld\n", made);
    return 0;
}
