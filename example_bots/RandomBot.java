// The smallest bot, in Java: plays a random legal move. Only the standard library.
// Build:  javac RandomBot.java
// Run:    java -cp . RandomBot
// To write your own bot, change choose(). field() finds a value in a JSON object:
// strings(field(field(line, "state"), "hand")) are your cards.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public class RandomBot {
    static Random random = new Random();

    static String choose(List<String> legal) {
        return legal.get(random.nextInt(legal.size()));
    }

    // i is at an opening quote; returns the place after the closing one.
    static int skipString(String s, int i) {
        for (i++; i < s.length() && s.charAt(i) != '"'; i++) {
            if (s.charAt(i) == '\\') i++; // \" does not end the string
        }
        return Math.min(i + 1, s.length());
    }

    // i is at a value; returns the place after it: a ',', a bracket or a space.
    static int skipValue(String s, int i) {
        int depth = 0;
        while (i < s.length()) {
            char c = s.charAt(i);
            if (depth == 0 && ",}] ".indexOf(c) >= 0) break;
            if (c == '{' || c == '[') depth++;
            if (c == '}' || c == ']') depth--;
            i = c == '"' ? skipString(s, i) : i + 1;
        }
        return i;
    }

    static int skipAny(String s, int i, String characters) {
        while (i < s.length() && characters.indexOf(s.charAt(i)) >= 0) i++;
        return i;
    }

    // The text of a key's value, or "". It walks the object key by key: searching the line for
    // "legal" would be fooled by an opponent of that name.
    static String field(String object, String key) {
        int i = skipAny(object, 0, " {");
        while (i < object.length() && object.charAt(i) == '"') {
            int afterName = skipString(object, i);
            String name = object.substring(i, afterName);
            int value = skipAny(object, afterName, " :");
            int end = skipValue(object, value);
            if (name.equals("\"" + key + "\"")) return object.substring(value, end);
            i = skipAny(object, end, " ,");
        }
        return "";
    }

    // The strings of an array of strings without escapes: every second piece between quotes.
    static List<String> strings(String array) {
        List<String> found = new ArrayList<>();
        String[] pieces = array.split("\"");
        for (int i = 1; i < pieces.length; i += 2) found.add(pieces[i]);
        return found;
    }

    static void send(String line) {
        System.out.print(line + "\n"); // not println, which ends lines differently on Windows
        System.out.flush(); // otherwise the answer may stay in the buffer while the server waits
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String type = field(line, "type");
            if (type.equals("\"hello\"")) {
                send("{\"type\":\"hello\",\"protocol\":1,\"name\":\"random-java\"}");
            } else if (type.equals("\"round_start\"")) {
                String seed = field(line, "seed");
                if (!seed.isEmpty()) random.setSeed(Long.parseLong(seed)); // same seed and requests: same moves
            } else if (type.equals("\"request\"")) {
                String move = choose(strings(field(line, "legal")));
                send("{\"type\":\"action\",\"id\":" + field(line, "id") + ",\"move\":\"" + move + "\"}");
            } else if (type.equals("\"error\"")) {
                System.err.println(line);
            } else if (type.equals("\"bye\"")) {
                break;
            }
        }
    }
}
