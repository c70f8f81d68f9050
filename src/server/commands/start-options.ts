import { type Command, Option } from 'commander'
import { definitions, SETTING_GROUPS } from '../../settings/definitions.ts'
import type { Definition } from '../../settings/setting.ts'
import type { SettingsSources } from '../../settings/settings.ts'
import { undocumentedDefinitions } from '../../settings/undocumented-definitions.ts'

/** The meaning of flags without a value. */
const BARE: ReadonlyMap<string, string | undefined> = new Map(
  Object.values<Definition<unknown>>(definitions).map(({ name, kind }) => [name, kind.bare]),
)

/** Adds a flag for each setting, in the groups of the settings. Settings for tests are hidden. */
export function addSettingOptions(command: Command): void {
  for (const [title, group] of Object.entries(SETTING_GROUPS)) {
    command.optionsGroup(`${title}:`)
    for (const definition of Object.values(group))
      for (const option of optionsOf(definition)) command.addOption(option)
  }
  for (const definition of Object.values(undocumentedDefinitions))
    for (const option of optionsOf(definition)) command.addOption(option.hideHelp())
}

/** A switch has a negative form, which is in the manual only: it would double the lines of the help. */
function optionsOf({ name, kind, shownDefault, meaning }: Definition<unknown>): Option[] {
  const isOptional = kind.isSwitch === true || kind.bare !== undefined
  const value = isOptional ? '[value]' : '<value>'
  const usual = shownDefault === '' ? '' : ` (default: ${shownDefault})`
  const option = new Option(`--${name} ${value}`, meaning.replaceAll('`', '') + usual)
  if (kind.isList === true) option.argParser(joined)
  return kind.isSwitch === true ? [option, new Option(`--no-${name}`).hideHelp()] : [option]
}

function joined(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`
}

/** The settings that the user gave by flags. */
export function givenSettings(
  command: Command,
): Required<Pick<SettingsSources, 'flags'>> & { file?: string } {
  const flags: Record<string, unknown> = {}
  for (const option of command.options) {
    const key = option.attributeName()
    if (option.negate || command.getOptionValueSource(key) !== 'cli') continue
    const name = option.long!.slice('--'.length)
    const value: unknown = command.getOptionValue(key)
    flags[name] = value === true ? (BARE.get(name) ?? true) : value
  }
  const { settings: file, ...others } = flags
  return { flags: others, ...(file === undefined ? {} : { file: file as string }) }
}
