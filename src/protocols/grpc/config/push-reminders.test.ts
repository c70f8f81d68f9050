import { beforeEach, expect, test } from 'vitest'
import { configKey } from '../../../core/config/state/config-item.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'
import { MOST_REMINDERS, PushReminders, REMIND_MS } from './push-reminders.ts'

const itemOf = (dataId: string): WatchedItem => ({ key: configKey('public', 'G', dataId), md5: '', echo: '' })

let later: { ms: number; run: () => void }[]
let reminded: string[]
let reminders: PushReminders
beforeEach(() => {
  later = []
  reminded = []
  reminders = new PushReminders({
    after: (ms, run) => void later.push({ ms, run }),
    remind: ({ key }) => void reminded.push(key.dataId),
  })
})

function pass(times: number): void {
  for (let time = 0; time < times; time++) later.splice(0).forEach(({ run }) => run())
}

test('a client that does not ask after its acknowledgement is reminded', () => {
  reminders.acknowledged(itemOf('a'))
  expect(later.map(({ ms }) => ms)).toEqual([REMIND_MS])
  pass(1)
  expect(reminded).toEqual([])
  pass(1)
  expect(reminded).toEqual(['a'])
})

test('a client that asks is not reminded', () => {
  reminders.acknowledged(itemOf('a'))
  reminders.acknowledged(itemOf('b'))
  pass(1)
  reminders.asked(itemOf('a').key.text)
  pass(1)
  expect(reminded).toEqual(['b'])
})

test('many acknowledgements share one timer, and none is left when all have asked', () => {
  for (let times = 0; times < 500; times++) reminders.acknowledged(itemOf(`${times % 5}`))
  expect(later.length).toBe(1)
  for (let index = 0; index < 5; index++) reminders.asked(itemOf(`${index}`).key.text)
  pass(1)
  expect(later).toEqual([])
})

test('a client that never asks is reminded a few times only', () => {
  reminders.acknowledged(itemOf('a'))
  for (let times = 0; times < 20; times++) {
    const before = reminded.length
    pass(1)
    if (reminded.length > before) reminders.acknowledged(itemOf('a'))
  }
  expect(reminded.length).toBe(MOST_REMINDERS)
  expect(later).toEqual([])
})

test('nobody is reminded after the end of the connection', () => {
  reminders.acknowledged(itemOf('a'))
  reminders.end()
  pass(3)
  expect(reminded).toEqual([])
  expect(later).toEqual([])
})
