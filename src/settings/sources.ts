/** The settings are wrong. Each problem is a sentence with the setting, where it was given, and what is allowed. */
export class SettingsError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'SettingsError'
    this.problems = problems
  }
}

/** A value as the user wrote it, and where: messages name both. */
export interface Given {
  /** The name as it was written: `port`, `WAYPOST_PORT`. */
  readonly name: string
  readonly raw: unknown
  /** Where the user wrote it: `the flag --port`, `the environment variable WAYPOST_PORT`, `prod.json`. */
  readonly origin: string
}

/** What the flags mean, before their values are read. */
export interface FlagTexts {
  readonly given: readonly Given[]
  /** The file named by `--settings`. */
  readonly file: string | undefined
}

/** Which names take no value, and which add up when they are repeated. */
export interface FlagShapes {
  isSwitch(name: string): boolean
  isList(name: string): boolean
  /** What the flag means without a value. */
  bareValue(name: string): string | undefined
}

/** The prefix of every environment variable of the server. */
const ENVIRONMENT_PREFIX = 'WAYPOST_'

/** The environment variable of a setting: `data-dir` → `WAYPOST_DATA_DIR`. */
export function environmentName(name: string): string {
  return ENVIRONMENT_PREFIX + name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()
}

/**
 * The flags as given: `--port 8848`, `--port=8848`, `--x`, `--no-x`. The last of a repeated flag counts; those of a list
 * add up. Throws SettingsError for a word that is no flag. `parseArgs` of Node stops at the first unknown flag; this keeps
 * unknown flags and missing values, so that all problems are reported together.
 */
export function readFlags(args: readonly string[], shapes: FlagShapes): FlagTexts {
  const given = new Map<string, Given>()
  const rest = [...args]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const flag = readFlag(word, rest, shapes)
    const before = given.get(flag.name)
    const raw = before && shapes.isList(flag.name) ? `${String(before.raw)},${String(flag.raw)}` : flag.raw
    given.set(flag.name, { ...flag, raw })
  }
  const file = given.get('settings')
  given.delete('settings')
  if (file && !file.raw) throw new SettingsError(['The flag --settings needs the name of a file.'])
  return { given: [...given.values()], file: file && String(file.raw) }
}

function readFlag(word: string, rest: string[], shapes: FlagShapes): Given {
  const [, name, , value] = /^--([^=]+)(=([\s\S]*))?$/.exec(word) ?? []
  if (name === undefined)
    throw new SettingsError([`"${word}" is not a flag. FlagTexts are written --name value or --name=value.`])
  const origin = `the flag --${name}`
  if (value !== undefined) return { name, raw: value, origin }
  if (shapes.isSwitch(name)) return { name, raw: true, origin }
  if (name.startsWith('no-') && shapes.isSwitch(name.slice(3)))
    return { name: name.slice(3), raw: false, origin }
  const next = rest[0]
  if (next === undefined || next.startsWith('--')) return { name, raw: shapes.bareValue(name), origin }
  rest.shift()
  return { name, raw: next, origin }
}

/** The variables that begin with `WAYPOST_`. An empty one counts as absent: container files leave variables out this way. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): readonly Given[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(ENVIRONMENT_PREFIX) && value !== undefined && value !== '')
    .map(([name, raw]) => ({ name, raw, origin: `the environment variable ${name}` }))
}

/**
 * Reads a settings file: a JSON object if its first character is `{`, otherwise lines `name=value`.
 * Throws SettingsError if it is neither.
 */
export function readFileText(content: string, file: string): readonly Given[] {
  const trimmed = content.replace(/^\uFEFF/, '').trim()
  return trimmed.startsWith('{') ? readJson(trimmed, file) : readProperties(trimmed, file)
}

function readJson(content: string, file: string): readonly Given[] {
  try {
    return flatten(JSON.parse(content) as object, '').map(([name, raw]) => ({ name, raw, origin: file }))
  } catch (cause) {
    throw new SettingsError([`The settings file ${file} is not valid JSON: ${(cause as Error).message}.`])
  }
}

function flatten(value: object, prefix: string): [string, unknown][] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = prefix + key
    const isGroup = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    return isGroup ? flatten(inner, `${name}.`) : [[name, inner] satisfies [string, unknown]]
  })
}

function readProperties(content: string, file: string): readonly Given[] {
  return content.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const at = trimmed.indexOf('=')
    const origin = `${file}, line ${index + 1}`
    if (at < 1) throw new SettingsError([`${origin}: "${trimmed}" is not of the form name=value.`])
    return [{ name: trimmed.slice(0, at).trim(), raw: trimmed.slice(at + 1).trim(), origin }]
  })
}
