import { CONFIG_TYPES } from '../server/configs.ts'

const OTHER_ENDINGS: Readonly<Record<string, string>> = { yml: 'yaml', htm: 'html', txt: 'text' }

/** The type that the end of a name says. */
export function typeOfName(dataId: string): string | undefined {
  const ending = /\.([a-z]+)$/i.exec(dataId)?.[1]?.toLowerCase()
  const type = (ending === undefined ? undefined : OTHER_ENDINGS[ending]) ?? ending
  return CONFIG_TYPES.find((known) => known === type)
}

/**
 * The type by which a text is coloured, checked and compared by key. Clients of other servers publish without a type, so
 * that the item is a `text`: its name counts then.
 */
export function formatOf(type: string, dataId: string): string {
  return type === 'text' || type === 'unset' ? (typeOfName(dataId) ?? type) : type
}
