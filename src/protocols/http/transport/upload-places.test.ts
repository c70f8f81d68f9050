import { expect, test } from 'vitest'
import { UploadPlaces } from './upload-places.ts'

test('a third upload waits until one of two is answered', () => {
  const places = new UploadPlaces()
  places.take('a')
  places.take('b')
  expect(() => places.take('c')).toThrow(/2 uploads at once/)
  places.leave('a')
  places.take('c')
})

test('an owner has one place', () => {
  const places = new UploadPlaces()
  places.take('a')
  expect(() => places.take('a')).toThrow(/one upload of a user/)
  places.leave('a')
  places.take('a')
})
