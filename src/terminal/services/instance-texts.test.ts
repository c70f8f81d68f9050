import { describe, expect, test } from 'vitest'
import type { ExplainedInstance, ShownInstance } from '../answers.ts'
import { enabledText, healthText, leavesText, whyListed } from './instance-texts.ts'

const none = { check: null, connection: null }

function instance(more: object): ShownInstance {
  const usual = { lastBeatAgoMs: null, expiresInMs: null, healthy: true, enabled: true, disabled: null }
  return { ...usual, health: { reason: 'never', ...none }, ...more } as unknown as ShownInstance
}

const connection = (more: object) => ({
  health: {
    reason: 'connection',
    check: null,
    connection: {
      server: null,
      library: null,
      connectedMs: null,
      silentMs: null,
      removedInMs: null,
      ...more,
    },
  },
})

test.each<[string, string, object]>([
  [
    'last beat 22s ago',
    'in 8s',
    {
      healthy: false,
      lastBeatAgoMs: 22_400,
      expiresInMs: 8_100,
      health: { reason: 'beat-timeout', ...none },
    },
  ],
  [
    'last beat 3s ago',
    '',
    { lastBeatAgoMs: 3_000, expiresInMs: 27_000, health: { reason: 'beat', ...none } },
  ],
  ['beats at another server', '', { health: { reason: 'beat', ...none } }],
  ['set by an operator', '', { health: { reason: 'operator', ...none } }],
  [
    'probe TCP: refused',
    '',
    {
      healthy: false,
      health: { reason: 'probe', connection: null, check: { type: 'TCP', text: 'refused' } },
    },
  ],
  ['another server probes it', '', { health: { reason: 'probe', ...none } }],
  ['nobody has looked at it yet', '', {}],
  [
    'connected 0s ago, Go:2.3.5',
    '',
    connection({ where: 'here', connectedMs: Date.now() + 900, library: 'Go:2.3.5' }),
  ],
  ['connected to 10.0.0.2:8848', '', connection({ where: 'elsewhere', server: '10.0.0.2:8848' })],
  ['the server of its connection is gone', 'in 12s', connection({ where: 'gone', removedInMs: 12_000 })],
])('an instance: %s, leaves %s', (why, leaves, more) => {
  expect([healthText(instance(more)), leavesText(instance(more))]).toEqual([why, leaves])
})

test('a disabled instance names who has disabled it', () => {
  const disabled = { atMs: Date.now() - 300_000, user: 'ann', fromIp: '10.0.0.9', cause: 'operator' }
  expect(enabledText(instance({}))).toBe('yes')
  expect(enabledText(instance({ enabled: false }))).toBe('no')
  expect(enabledText(instance({ enabled: false, disabled }))).toBe('no: by ann, 5m ago')
  expect(enabledText(instance({ enabled: false, disabled: { ...disabled, user: null } }))).toMatch(
    /^no: by 10\.0\.0\.9, /,
  )
  expect(enabledText(instance({ enabled: false, disabled: { ...disabled, cause: 'registration' } }))).toMatch(
    /^no: by the registration, /,
  )
})

describe('explain', () => {
  const explained = (more: Partial<ExplainedInstance>) =>
    ({ listed: true, healthy: true, reasons: ['healthy'], ...more }) as ExplainedInstance

  test('does not contradict itself', () => {
    expect(whyListed(explained({}))).toBe('it is healthy')
    expect(whyListed(explained({ healthy: false, reasons: ['unhealthy'] }))).toBe(
      'it is unhealthy, and the client did not ask for healthy ones only',
    )
    expect(whyListed(explained({ listed: false, healthy: false, reasons: ['unhealthy'] }))).toBe(
      'it is unhealthy',
    )
    expect(whyListed(explained({ healthy: false, reasons: ['protection'] }))).toMatch(/protect threshold/)
    expect(whyListed(explained({ listed: false, reasons: ['disabled', 'no-weight'] }))).toBe(
      'it is disabled; its weight is 0',
    )
  })
})
