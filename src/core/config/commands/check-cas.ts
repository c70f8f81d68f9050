import { Refusal } from '../../refusal.ts'
import type { ConfigItem } from '../state/config-item.ts'

/**
 * Throws Refusal `config-changed` if the current version is not the one that a caller knows. `casMd5` is its md5; `''`:
 * no item; undefined: any version. The refusal does not show the version: a caller who may publish may not always read.
 */
export function checkCas(casMd5: string | undefined, current: Pick<ConfigItem, 'md5'> | undefined): void {
  if (casMd5 === undefined || casMd5 === (current?.md5 ?? '')) return
  throw new Refusal('config-changed', 'The item is not the one that casMd5 names: read it again.', {
    parameter: 'casMd5',
    allowed: 'the md5 of the current content',
  })
}
