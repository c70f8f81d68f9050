import { array, assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { cutPage, pageOf } from './page.ts'

test('pages together are everything, in the same order', () => {
  assert(
    property(array(integer(), { maxLength: 20 }), integer({ min: 1, max: 7 }), (all, pageSize) => {
      const pages = Array.from({ length: 21 }, (_, turn) => pageOf(all, { pageNo: turn + 1, pageSize }))
      expect(pages.flat()).toEqual(all)
    }),
  )
})

test('a page past the end is empty, however far past it is', () => {
  expect(pageOf([1, 2], { pageNo: 2_147_483_647, pageSize: 2_147_483_647 })).toEqual([])
})

test('a page of configurations is cut to 500 entries', () => {
  expect(cutPage({ pageNo: 3, pageSize: 501 })).toEqual({ pageNo: 3, pageSize: 500 })
  expect(cutPage({ pageNo: 3, pageSize: 7 })).toEqual({ pageNo: 3, pageSize: 7 })
})
