import { expect, test } from 'vitest'
import { UploadPlaces } from './upload-places.ts'

test('a third upload waits until one of two is answered', () => {
  const places = new UploadPlaces()
  expect([places.take(), places.take()]).toEqual([true, true])
  expect(() => places.take()).toThrow(/2 uploads at once/)
  places.leave()
  expect(places.take()).toBe(true)
})
