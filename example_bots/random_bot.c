/* The smallest bot, in C: plays a random legal move. Only the C library.
 * Build:  cc -O2 -Wall -Wextra -o random_bot_c random_bot.c
 * Run:    ./random_bot_c
 * To write your own bot, change choose(). field() finds a value in a JSON object:
 * field(field(line, "state"), "hand") points at the array of your cards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char line[1 << 17];          /* the server's lines are at most 64 KiB */
static const char *legal[1 << 16];  /* more moves than fit in a line */

static const char *choose(int count)  /* one of legal[0] .. legal[count - 1] */
{
    return legal[rand() % count];
}

/* p is at an opening quote; returns the place after the closing one. */
static char *skip_string(char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;  /* \" does not end the string */
    return *p ? p + 1 : p;
}

/* p is at a value; returns the place after it: a ',', a bracket or a space. */
static char *skip_value(char *p)
{
    int depth = 0;
    while (*p && !(depth == 0 && strchr(",}] ", *p))) {
        if (*p == '{' || *p == '[')
            depth++;
        if (*p == '}' || *p == ']')
            depth--;
        p = *p == '"' ? skip_string(p) : p + 1;
    }
    return p;
}

/* Where the value of a key begins, or NULL. It walks the object key by key: searching the line for
 * "legal" would be fooled by an opponent of that name. */
static char *field(char *object, const char *key)
{
    size_t length = strlen(key);
    char *p = object + strspn(object, " {");
    while (*p == '"') {
        char *name = p + 1;
        p = skip_string(p);
        int found = strncmp(name, key, length) == 0 && name + length + 1 == p;
        p += strspn(p, " :");
        if (found)
            return p;
        p = skip_value(p);
        p += strspn(p, " ,");
    }
    return NULL;
}

/* Points legal[] at the strings of an array, ending each where its closing quote was. */
static int read_legal(char *p)
{
    int count = 0;
    for (; *p && *p != ']'; p++)
        if (*p == '"') {
            legal[count++] = p + 1;
            p = skip_string(p) - 1;
            *p = '\0';
        }
    return count;
}

int main(void)
{
    srand((unsigned long)time(NULL) ^ (unsigned long)getpid() << 12);
    while (fgets(line, sizeof line, stdin)) {
        char *type = field(line, "type");
        if (!type)
            continue;
        if (strncmp(type, "\"hello\"", 7) == 0) {
            puts("{\"type\":\"hello\",\"protocol\":1,\"name\":\"random-c\"}");
        } else if (strncmp(type, "\"round_start\"", 13) == 0) {
            char *seed = field(line, "seed");
            if (seed)
                srand(strtoull(seed, NULL, 10));  /* the same seed and the same requests: the same moves */
        } else if (strncmp(type, "\"request\"", 9) == 0) {
            long long id = atoll(field(line, "id"));  /* before read_legal(), which cuts up the line */
            int count = read_legal(field(line, "legal"));
            printf("{\"type\":\"action\",\"id\":%lld,\"move\":\"%s\"}\n", id, choose(count));
        } else if (strncmp(type, "\"error\"", 7) == 0) {
            fputs(line, stderr);
        } else if (strncmp(type, "\"bye\"", 5) == 0) {
            break;
        }
        fflush(stdout);  /* otherwise the answer stays in the buffer while the server waits */
    }
    return 0;
}
