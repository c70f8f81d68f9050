import { type ItemMetadata, unknownTypeOf } from '../../../archive/config-metadata.ts'
import { areItemNames, entryName, ITEM_NAME_ALLOWED } from '../../../archive/entry-names.ts'
import { shownName } from '../../../archive/zip-format.ts'
import { CONFIG_TYPES } from '../../../core/config/state/config-item.ts'
import { type ConfigNotes, NO_NOTES, noteFault } from '../../../core/config/state/config-notes.ts'
import type { ItemName } from '../item.ts'
import type { Descriptions } from './descriptions.ts'

/** Why no server takes an item of a directory, by the rules that an import of a zip file has: a sentence for each fault. */
export function itemFaults(item: ItemName, { file, items }: Descriptions): string[] {
  const metadata = items.get(entryName(item))
  const name = shownName(`${item.group}/${item.dataId}`)
  const faults = metadata === undefined ? [] : metadataFaults(metadata)
  const sentences = faults.map((fault) => `${file}, ${name}: ${fault}.`)
  return areItemNames(item)
    ? sentences
    : [`No item can be called ${name}: ${ITEM_NAME_ALLOWED}.`, ...sentences]
}

function metadataFaults(metadata: ItemMetadata): string[] {
  const type = unknownTypeOf(metadata)
  const ofType = `the type ${shownName(type ?? '')} is none of ${CONFIG_TYPES.join(', ')}`
  const { appName, desc, extras } = metadata
  const notes = { appName, desc, ...extras }
  const ofNotes = (Object.keys(NO_NOTES) as (keyof ConfigNotes)[]).flatMap((note) => {
    const fault = noteFault(note, notes[note] ?? '')
    return fault === undefined ? [] : [`${note} ${fault}`]
  })
  return type === undefined ? ofNotes : [ofType, ...ofNotes]
}
