import type { Command, Option } from 'commander'

/** The shells that a completion script is made for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number]

/** A command, with its subcommands and flags. */
interface CompletionPlace {
  /** Its words: `config get`; empty: the program. */
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly meaning: string }[]
  readonly flags: readonly Flag[]
}

interface Flag {
  /** `--output` and `-o`. */
  readonly names: readonly string[]
  readonly meaning: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

/** The flag whose values are names of contexts: the shell asks the command for them. */
const CONTEXT_FLAG = '--context'
const CONTEXT_NAMES = 'waypost context list --output name 2>/dev/null'

/** The script by which a shell completes the command line. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '')
  switch (shell) {
    case 'bash':
      return bashScript(places)
    case 'zsh':
      return zshScript(places)
    case 'fish':
      return fishScript(places)
  }
}

function placesOf(command: Command, path: string): CompletionPlace[] {
  const below = command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`.trim()))
  const commands = command.commands.map((one) => ({
    name: one.name(),
    meaning: one.summary() || one.description(),
  }))
  const flags = command.options.filter(({ hidden }) => !hidden).map(flagOf)
  const help = { names: ['--help', '-h'], meaning: 'print this help', takesValue: false, choices: [] }
  return [{ path, commands, flags: [...flags, help] }, ...below]
}

function flagOf({ long, short, description, required, argChoices }: Option): Flag {
  const names = [long, short].filter((name) => typeof name === 'string')
  return { names, meaning: description, takesValue: required, choices: argChoices ?? [] }
}

/** The words that lead to the place of the cursor: flags and their values between them are passed over. */
function pathLoop(places: readonly CompletionPlace[]): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `" ${path}"`)
  const skip = `    case "$word" in\n      ${namesWithValue(places).join('|')}) ((i++)); continue ;;\n    esac\n`
  return `${skip}    case "$path $word" in\n      ${paths.join('|')}) path="$path $word" ;;\n    esac\n`
}

/** The names of flags that take a value, whatever the command: the value of `-n dev` is no command. */
function namesWithValue(places: readonly CompletionPlace[]): readonly string[] {
  const flags = places.flatMap((place) => place.flags)
  const namesOf = (takesValue: boolean): string[] =>
    flags.filter((flag) => flag.takesValue === takesValue).flatMap(({ names }) => names)
  const without = new Set(namesOf(false))
  return [...new Set(namesOf(true))].filter((name) => !without.has(name))
}

const keyOf = (path: string): string => (path === '' ? '""' : `" ${path}"`)

/** A pattern of `case` for each flag with words as values. */
function valueCases(places: readonly CompletionPlace[], lineOf: (flag: Flag) => string): string {
  const seen = new Map<string, Flag>()
  for (const flag of places.flatMap(({ flags }) => flags))
    if (flag.choices.length > 0 || flag.names.includes(CONTEXT_FLAG)) seen.set(flag.names.join('|'), flag)
  return [...seen].map(([names, flag]) => `    ${names}) ${lineOf(flag)} ;;\n`).join('')
}

function bashScript(places: readonly CompletionPlace[]): string {
  const words = places.map(({ path, commands, flags }) => {
    const all = [...commands.map(({ name }) => name), ...flags.flatMap(({ names }) => names)]
    return `    ${keyOf(path)}) words="${all.join(' ')}" ;;\n`
  })
  const values = valueCases(places, ({ choices }) =>
    choices.length > 0 ? `words="${choices.join(' ')}"` : `words="$(${CONTEXT_NAMES})"`,
  )
  return `# Completion of waypost for bash: source <(waypost completion bash)
_waypost() {
  local path="" word words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
${pathLoop(places)}  done
  case "$path" in
${words.join('')}  esac
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${values}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _waypost waypost
`
}

function zshScript(places: readonly CompletionPlace[]): string {
  const described = (name: string, meaning: string): string =>
    quoted(`${name}:${meaning.replaceAll(':', '\\:')}`)
  const lines = places.map(({ path, commands, flags }) => {
    const names = commands.map(({ name, meaning }) => described(name, meaning)).join(' ')
    const options = flags.flatMap((flag) => flag.names.map((name) => described(name, flag.meaning))).join(' ')
    return `    ${keyOf(path)}) commands=(${names}) flags=(${options}) ;;\n`
  })
  const values = valueCases(places, ({ choices }) =>
    choices.length > 0
      ? `compadd -- ${choices.join(' ')}; return`
      : `compadd -- \${(f)"$(${CONTEXT_NAMES})"}; return`,
  )
  return `#compdef waypost
# Completion of waypost for zsh: source <(waypost completion zsh)
_waypost() {
  local path_of_words="" word i
  local -a commands flags
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
${pathLoop(places).replaceAll('$path', '$path_of_words').replaceAll('path=', 'path_of_words=')}  done
  case "$path_of_words" in
${lines.join('')}  esac
  case "\${words[CURRENT-1]}" in
${values}  esac
  if [[ $PREFIX == -* ]]; then
    _describe flag flags
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}
if [ "\${funcstack[1]}" = _waypost ]; then _waypost; else compdef _waypost waypost; fi
`
}

function fishScript(places: readonly CompletionPlace[]): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `# Completion of waypost for fish: waypost completion fish | source
set -g __waypost_paths ${paths.join(' ')}
set -g __waypost_with_value ${namesWithValue(places).join(' ')}
function __waypost_at
    set -l path ''
    set -l isValue no
    for word in (commandline -opc)[2..-1]
        if test $isValue = yes
            set isValue no
            continue
        end
        contains -- $word $__waypost_with_value; and set isValue yes
        set -l next (string trim -- "$path $word")
        if contains -- $next $__waypost_paths
            set path $next
        end
    end
    test "$path" = "$argv[1]"
end
${places.flatMap(fishLines).join('')}`
}

function fishLines({ path, commands, flags }: CompletionPlace): string[] {
  const at = `complete -c waypost -n ${quoted(`__waypost_at '${path}'`)}`
  const names = commands.map(({ name, meaning }) => `${at} -f -a ${name} -d ${quoted(meaning)}\n`)
  const options = flags.map(({ names: [long, short], meaning, takesValue, choices }) => {
    const letter = short === undefined ? '' : ` -s ${short.slice(1)}`
    const values = long === CONTEXT_FLAG ? ` -x -a ${quoted(`(${CONTEXT_NAMES})`)}` : takesValue ? ' -r' : ''
    const words = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : values
    return `${at} -l ${long!.slice(2)}${letter}${words} -d ${quoted(meaning)}\n`
  })
  return [...names, ...options]
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `'\\''`)}'`
}
