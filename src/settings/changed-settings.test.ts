import { expect, test } from 'vitest'
import { changedSettings } from './changed-settings.ts'
import { loadSettings } from './settings.ts'

test('only settings that differ from their defaults are reported, by name', () => {
  const args = ['--port=9000', '--site=unknown', '--trusted-proxies=127.0.0.1']
  const changed = changedSettings(loadSettings({ args, env: {} }))
  expect(changed).toEqual({ port: 9000, 'trusted-proxies': ['127.0.0.1'] })
  expect(changedSettings(loadSettings({ args: [], env: {} }))).toEqual({})
})
