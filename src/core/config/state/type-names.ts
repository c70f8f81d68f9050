import { CONFIG_TYPES, type ConfigItem, type ConfigType } from './config-item.ts'

/** Usual names of types besides their own. */
const ALIASES: Readonly<Record<string, ConfigType>> = {
  yml: 'yaml',
  htm: 'html',
  html5: 'html',
  txt: 'text',
  plain: 'text',
  props: 'properties',
  'java-properties': 'properties',
}

/** The most characters of a word for a type. */
export const MAX_TYPE_LENGTH = 64

/**
 * The type that a word means, by any usual spelling: in any case, by an extension (`yml`), or as a content type
 * (`text/x-yaml; charset=utf-8`). Undefined for other words.
 */
export function typeOfWord(word: string): ConfigType | undefined {
  // Aliases in metadata repeat a long text at no cost.
  if (word.length > MAX_TYPE_LENGTH) return undefined
  const bare = word.split(';', 1)[0]!.trim().toLowerCase()
  const name = bare.replace(/^(text|application)\/(x-)?/, '')
  return (
    CONFIG_TYPES.find((type) => type === name) ?? (Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined)
  )
}

/** The type that the end of a data id says; undefined where it says none. */
export function typeOfName(dataId: string): ConfigType | undefined {
  const ending = /\.([a-z]+)$/i.exec(dataId)?.[1]
  return ending === undefined || ending === 'unset' ? undefined : typeOfWord(ending)
}

/** The type by which a text is read: clients of other servers publish without one, so the name of a `text` counts. */
export function formatOf({ type, key }: Pick<ConfigItem, 'type' | 'key'>): ConfigType {
  return type === 'text' || type === 'unset' ? (typeOfName(key.dataId) ?? type) : type
}
