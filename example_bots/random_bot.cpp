// The smallest bot, in C++17: plays a random legal move. Only the standard library.
// Build:  c++ -std=c++17 -O2 -Wall -Wextra -o random_bot_cpp random_bot.cpp
// Run:    ./random_bot_cpp
// To write your own bot, change choose(). field() finds a value in a JSON object:
// strings(field(field(line, "state"), "hand")) are your cards.
#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using Text = std::string_view;

static std::string choose(const std::vector<std::string> &legal, std::mt19937_64 &rng) {
    return legal[std::uniform_int_distribution<size_t>(0, legal.size() - 1)(rng)];
}

// i is at an opening quote; returns the place after the closing one.
static size_t skip_string(Text s, size_t i) {
    for (i++; i < s.size() && s[i] != '"'; i++)
        if (s[i] == '\\') i++;  // \" does not end the string
    return std::min(i + 1, s.size());
}

static size_t skip_any(Text s, size_t i, Text characters) {
    while (i < s.size() && characters.find(s[i]) != Text::npos) i++;
    return i;
}

// i is at a value; returns the place after it: a ',', a bracket or a space.
static size_t skip_value(Text s, size_t i) {
    int depth = 0;
    while (i < s.size()) {
        char c = s[i];
        if (depth == 0 && Text(",}] ").find(c) != Text::npos) break;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        i = c == '"' ? skip_string(s, i) : i + 1;
    }
    return i;
}

// The text of a key's value, or nothing. It walks the object key by key: searching the line for
// "legal" would be fooled by an opponent of that name.
static Text field(Text object, Text key) {
    size_t i = skip_any(object, 0, " {");
    while (i < object.size() && object[i] == '"') {
        size_t after_name = skip_string(object, i);
        Text name = object.substr(i, after_name - i);
        size_t value = skip_any(object, after_name, " :");
        size_t end = skip_value(object, value);
        if (name == '"' + std::string(key) + '"') return object.substr(value, end - value);
        i = skip_any(object, end, " ,");
    }
    return {};
}

// The strings of an array of strings.
static std::vector<std::string> strings(Text array) {
    std::vector<std::string> found;
    for (size_t i = array.find('"'); i != Text::npos; i = array.find('"', i)) {
        size_t end = skip_string(array, i);
        found.emplace_back(array.substr(i + 1, end - i - 2));
        i = end;
    }
    return found;
}

int main() {
    std::mt19937_64 rng(std::random_device{}());
    std::string line;
    while (std::getline(std::cin, line)) {
        Text type = field(line, "type");
        if (type == "\"hello\"") {  // std::endl also flushes; otherwise the server would wait for the answer
            std::cout << R"({"type":"hello","protocol":1,"name":"random-cpp"})" << std::endl;
        } else if (type == "\"round_start\"") {  // the same seed and the same requests: the same moves
            std::string seed(field(line, "seed"));
            if (!seed.empty()) rng.seed(std::stoull(seed));
        } else if (type == "\"request\"") {
            std::cout << R"({"type":"action","id":)" << field(line, "id") << R"(,"move":")"
                      << choose(strings(field(line, "legal")), rng) << R"("})" << std::endl;
        } else if (type == "\"error\"") {
            std::cerr << line << std::endl;
        } else if (type == "\"bye\"") {
            break;
        }
    }
    return 0;
}
