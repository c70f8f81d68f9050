import { readFileSync } from 'node:fs'
import { definitions } from './definitions.ts'
import type { Definition } from './setting.ts'
import { environmentName, readEnvironment, readFileText, SettingsError } from './sources.ts'
import type { Given } from './sources.ts'

type Definitions = Readonly<Record<string, Definition<unknown>>>

type SettingValues<D extends Definitions> = {
  readonly [Key in keyof D]: D[Key] extends Definition<infer T> ? T : never
}

/** The settings of a server, read once at the start and frozen. Durations are in ms, sizes in bytes. */
export type Settings = SettingValues<typeof definitions>

/** The sources of settings: flags, the environment, and the file that one of both names. */
export interface SettingsSources {
  /** By the names of the settings. Two values of a list are joined by a comma. */
  readonly flags?: Readonly<Record<string, unknown>>
  /** The file named by `--settings`. */
  readonly file?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The settings of this start: flag before environment before file before default. Throws SettingsError with all
 * problems.
 */
export function loadSettings(sources: SettingsSources): Settings {
  return readSettings(definitions, sources)
}

/** The variable with the password of `etcd-user`. It is no setting, because settings are logged. */
export const ETCD_PASSWORD = 'WAYPOST_ETCD_PASSWORD'

/** The variable with the keys of `secrets-key-file`. */
export const SECRETS_KEYS = 'WAYPOST_SECRETS_KEYS'

/** Variables that are no settings: the name of the settings file, a password, and the variables of client commands. */
const OTHER_VARIABLES = new Set([
  'WAYPOST_SETTINGS',
  ETCD_PASSWORD,
  SECRETS_KEYS,
  'WAYPOST_ACCESS_TOKEN',
  'WAYPOST_PASSWORD',
  'WAYPOST_FROM_PASSWORD',
  'WAYPOST_MYSQL_PASSWORD',
  'WAYPOST_CLIENT_FILE',
  'WAYPOST_CONTEXT',
  'WAYPOST_NAMESPACE',
  'WAYPOST_SERVER',
])

/** Like loadSettings, for any list of definitions. */
function readSettings<D extends Definitions>(list: D, sources: SettingsSources): SettingValues<D> {
  const all = Object.values(list)
  const environment = readEnvironment(sources.env).filter(({ name }) => !OTHER_VARIABLES.has(name))
  const file = sources.file ?? (sources.env['WAYPOST_SETTINGS'] || undefined)
  const given = [
    ...named(givenFlags(sources.flags), all, { spell: (name) => name, show: (name) => `--${name}` }),
    ...named(environment, all, { spell: environmentName, show: environmentName }),
    ...named(file === undefined ? [] : readFile(file), all, { spell: (name) => name, show: (name) => name }),
  ]
  const problems = given.flatMap((entry) => problemOf(entry))
  if (problems.length > 0) throw new SettingsError(problems)
  return Object.freeze(
    Object.fromEntries(Object.entries(list).map(([key, of]) => [key, valueOf(of, given)])),
  ) as SettingValues<D>
}

function givenFlags(flags: SettingsSources['flags'] = {}): readonly Given[] {
  return Object.entries(flags).map(([name, raw]) => ({ name, raw, origin: `the flag --${name}` }))
}

/** The settings that differ from their defaults, by name, for the log. Durations in ms, sizes in bytes. */
export function changedSettings(settings: Settings): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const [key, { name, default: usual }] of Object.entries(definitions)) {
    const value = settings[key as keyof Settings]
    if (JSON.stringify(value) !== JSON.stringify(usual)) changed[name] = value
  }
  return changed
}

/** A value and its setting. If no setting has the name, a guess what the user meant. */
interface NamedValue {
  readonly given: Given
  readonly definition: Definition<unknown> | undefined
  readonly guess: string | undefined
}

interface Spelling {
  /** How this source spells the name of a setting. */
  spell(name: string): string
  /** How a message shows it. */
  show(name: string): string
}

function named(
  given: readonly Given[],
  all: readonly Definition<unknown>[],
  spelling: Spelling,
): NamedValue[] {
  return given.map((entry) => {
    const definition = all.find(({ name }) => spelling.spell(name) === entry.name)
    const meant = definition
      ? undefined
      : nearest(
          entry.name,
          all.map(({ name }) => spelling.spell(name)),
        )
    const guess = all.find(({ name }) => spelling.spell(name) === meant)?.name
    return { given: entry, definition, guess: guess && spelling.show(guess) }
  })
}

function problemOf({ given, definition, guess }: NamedValue): string[] {
  if (definition) {
    if (definition.kind.read(given.raw) !== undefined) return []
    const wrong = `Wrong value of the setting ${definition.name}: ${shown(given)}`
    return [`${wrong} It must be ${definition.kind.allowed}.${linkHint(given)}`]
  }
  const hint = guess ? `Did you mean ${guess}?` : 'The command `waypost help start` lists all settings.'
  return [`Unknown setting ${given.name}, from ${given.origin}. ${hint}${linkHint(given)}`]
}

function shown({ raw, origin }: Given): string {
  return raw === undefined ? `${origin} has no value.` : `${JSON.stringify(raw)}, from ${origin}.`
}

/** Kubernetes gives every container such variables for a Service that is called "waypost". */
function linkHint({ name, raw }: Given): string {
  if (!/^WAYPOST_(SERVICE_(HOST|PORT)|PORT_\d)|^WAYPOST_PORT=tcp:/.test(`${name}=${String(raw)}`)) return ''
  return ' Kubernetes sets this for a Service named "waypost": set enableServiceLinks to false in the pod.'
}

function valueOf(definition: Definition<unknown>, given: readonly NamedValue[]): unknown {
  const first = given.find((entry) => entry.definition === definition)
  return first ? definition.kind.read(first.given.raw) : definition.default
}

function readFile(file: string): readonly Given[] {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new SettingsError([`The settings file ${file} cannot be read: ${(cause as Error).message}.`])
  }
  return readFileText(content, file)
}

/** The candidate that is nearest to a misspelt word; undefined if none is near. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best && best.edits <= (word.length < 4 ? 1 : Math.max(2, word.length / 3))
    ? best.candidate
    : undefined
}

/** The number of letters to insert, remove or replace to turn one word into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, letter] of from.split('').entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = row[j]! + (letter === to[j] ? 0 : 1)
      next.push(Math.min(replaced, row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
