import { Refusal } from '../refusal.ts'
import type { ConfigItem } from './config-item.ts'

/**
 * Throws Refusal `config-changed` where the current version is not the one that a caller knows: `casMd5` is the md5 that it
 * knows, `''` says that there is no item, and undefined that it does not matter.
 */
export function checkCas(casMd5: string | undefined, current: ConfigItem | undefined): void {
  if (casMd5 === undefined || casMd5 === (current?.md5 ?? '')) return
  const now = current === undefined ? 'there is no item' : `its md5 is ${current.md5}`
  throw new Refusal('config-changed', `The item is not the one that casMd5 names: ${now}.`, {
    parameter: 'casMd5',
    allowed: 'the md5 of the current content',
  })
}
