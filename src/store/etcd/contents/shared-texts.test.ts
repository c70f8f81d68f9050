import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GRAY_TEXT } from '../../../core/config/state/gray-version.ts'
import { configKey } from '../../../core/config/state/config-item.ts'
import type { Change } from '../../../core/decisions/changes.ts'
import { recordRemoved } from '../../../core/records/record-kind.ts'
import { SharedTexts, textOfPieces } from './shared-texts.ts'
import { toJson } from '../keys/values.ts'

const LARGE = Buffer.alloc(300 * 1024, 'x')

function record(textId: string | undefined, content = LARGE): Change {
  const about = {
    md5: '',
    type: 'text',
    appName: '',
    encryptedDataKey: '',
    srcIp: '',
    srcUser: null,
  } as const
  const record = { ...about, id: 1, key: configKey('public', 'G', 'a'), op: 'U', content, atMs: 1 } as const
  return { kind: 'history-imported', record, ...(textId !== undefined && { textId }) }
}

test('the pieces of a gray text give its bytes again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (some) => {
      const content = Buffer.from(some)
      expect(textOfPieces(toJson({ text: content.toString() })).equals(content)).toBe(true)
    }),
  )
})

describe('the records of a unit', () => {
  test('share the text of a version that stays, and the last one takes it over from a version that ends', () => {
    const [made, grown, ended] = [record('7'), record('7'), record('7')]
    const staying = SharedTexts.of([made, grown])
    expect([made, grown].map((one) => staying.of(one)?.isOwner)).toEqual([false, false])
    const changes = [made, grown, ended, recordRemoved(GRAY_TEXT, '7', 1)]
    const ending = SharedTexts.of(changes)
    expect([made, grown, ended].map((one) => ending.of(one)?.isOwner)).toEqual([false, false, true])
    expect(ending.of(ended)?.parts).toEqual({ stamp: 7, count: 1, of: 'gray-text' })
    expect([ending.keeps('7'), ending.keeps('8')]).toEqual([true, false])
  })

  test.each([
    ['a small text', record('7', Buffer.from('small'))],
    ['a text of no gray version', record(undefined)],
    ['bytes that are no text', record('7', Buffer.concat([LARGE, Buffer.from([0xff])]))],
  ])('write %s themselves', (_, change) => {
    expect(SharedTexts.of([change]).of(change)).toBeUndefined()
  })
})
