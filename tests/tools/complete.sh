# complete.sh SCRIPT FUNCTION WORD...: what bash offers when Tab is pressed behind the words.
script=$1 function=$2
shift 2
source "$script"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"$function"
echo "${COMPREPLY[@]}"
