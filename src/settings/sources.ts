/** The settings are wrong. Each problem is a sentence with the setting, its source, and the allowed values. */
export class SettingsError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'SettingsError'
    this.problems = problems
  }
}

/** The data do not fit into the heap of this process. */
export class HeapTooSmallError extends SettingsError {
  /** The size of a heap in bytes that would do and that the memory allows. Undefined: no size would do. */
  readonly possibleBytes: number | undefined

  constructor(problem: string, possibleBytes: number | undefined) {
    super([problem])
    this.possibleBytes = possibleBytes
  }
}

/** A value as the user wrote it, and its source: messages name both. */
export interface Given {
  /** The name as it was written: `port`, `WAYPOST_PORT`. */
  readonly name: string
  readonly raw: unknown
  /** The source: `the flag --port`, `the environment variable WAYPOST_PORT`, `prod.json`. */
  readonly origin: string
}

/** The prefix of every environment variable of the server. */
const ENVIRONMENT_PREFIX = 'WAYPOST_'

/** The environment variable of a setting: `data-dir` → `WAYPOST_DATA_DIR`. */
export function environmentName(name: string): string {
  return ENVIRONMENT_PREFIX + name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()
}

/** The variables that begin with `WAYPOST_`. An empty variable counts as absent: container files write it so. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): readonly Given[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith(ENVIRONMENT_PREFIX) && value !== undefined && value !== '')
    .map(([name, raw]) => ({ name, raw, origin: `the environment variable ${name}` }))
}

/** Reads a settings file: JSON if it begins with `{`, otherwise lines `name=value`. Throws SettingsError for other files. */
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
