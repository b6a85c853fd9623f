#!/usr/bin/env bash
# The smallest bot, in pure Bash: plays a random legal move. No jq, no other program.
# Run:  bash random_bot.sh
# To write your own bot, change choose(): it gets the legal moves as $1 $2 ... and sets $move.
LC_ALL=C   # bytes, not characters: faster, and nothing we look for is beyond ASCII
IFS='"'    # an unquoted $line is split at its quotes ...
set -f     # ... and must not be expanded like a file name

choose() {
  local moves=("$@")
  move=${moves[(RANDOM << 15 | RANDOM) % $#]}   # one RANDOM has only 15 bits
}

# Sets type, id, seed and legal from a line of JSON. Once the escapes are gone every quote is a real one, so
# of the pieces between quotes each second one is a string and the others are the punctuation around it.
# A string followed by ':' is a key, and one at depth 1 is a key of the message itself: text in a name
# or a note that looks like a key is never mistaken for one.
parse() {
  local line=$1 depth=0 i key open close
  type='' id='' seed='' legal=()
  line=${line//'\\'/_}   # first \\, so that the second \ of \\" does not escape the quote
  line=${line//'\"'/_}
  local pieces=($line)
  for ((i = 1; i < ${#pieces[@]}; i += 2)); do
    open=${pieces[i - 1]//[^\{\[]/}    # only the opening brackets before this string
    close=${pieces[i - 1]//[^\}\]]/}   # only the closing ones
    ((depth += ${#open} - ${#close}))
    if [[ $depth == 1 && ${pieces[i + 1]} =~ ^\ *: ]]; then
      key=${pieces[i]}
      if [[ $key == id ]]; then id=${pieces[i + 1]//[^0-9]/}; fi
      if [[ $key == seed ]]; then seed=${pieces[i + 1]//[^0-9]/}; fi
    elif [[ $depth == 1 && $key == type ]]; then
      type=${pieces[i]}
    elif [[ $depth == 2 && $key == legal ]]; then
      legal+=("${pieces[i]}")
    fi
  done
}

while IFS= read -r line; do
  parse "$line"
  case $type in   # printf writes at once: no flush needed
    hello) printf '{"type":"hello","protocol":1,"name":"random-bash"}\n' ;;
    round_start) if [[ $seed ]]; then RANDOM=$seed; fi ;;   # same seed and requests: same moves
    request) choose "${legal[@]}"; printf '{"type":"action","id":%s,"move":"%s"}\n' "$id" "$move" ;;
    error) printf '%s\n' "$line" >&2 ;;
    bye) break ;;
  esac
done
exit 0   # the status of "no more input" is not an error
