/* The floor: the same bytes to the same bots, as fast as a program can. `ping_pong BOT FILE` writes the lines of FILE
   to two processes of BOT in turn, waits for one line from each, and prints the seconds on the wall and of its own
   processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int to[2], from[2];

static void start(int seat, char *bot) {
    int in[2], out[2];
    if (pipe(in) || pipe(out)) exit(1);
    if (fork() == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        if (seat) close(to[0]), close(from[0]);
        execl(bot, bot, (char *)0);
        _exit(1);
    }
    close(in[0]), close(out[1]);
    to[seat] = in[1], from[seat] = out[0];
}

static double processor_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    FILE *file = fopen(words[2], "r");
    char *line = NULL, heard[65536];
    size_t room = 0;
    ssize_t size;
    if (!file) return 1;
    for (int seat = 0; seat < 2; seat++) start(seat, words[1]);
    double began = now(), used = processor_seconds();
    for (int seat = 0; (size = getline(&line, &room, file)) > 0; seat = 1 - seat) {
        if (write(to[seat], line, size) != size) return 1;
        ssize_t got;
        do {
            if ((got = read(from[seat], heard, sizeof heard)) <= 0) return 1;
        } while (heard[got - 1] != '\n');
    }
    printf("%f %f\n", now() - began, processor_seconds() - used);
    for (int seat = 0; seat < 2; seat++) close(to[seat]);
    while (wait(NULL) > 0) {}
    return 0;
}
