import { expect, test } from 'vitest'
import { DEFAULT_SWITCHES } from '../../core/switches/switches.ts'
import { acceptsPush } from './push-agents.ts'

test.each([
  ['Nacos-Java-Client:v1.4.8', true],
  ['Nacos-Java-Client:v1.0.0', true],
  ['Nacos-Java-Client:v1.4.8-SNAPSHOT', true],
  ['Nacos-Go-Client:v1.1.6', true],
  ['Nacos-DNS:v1.0.1', true],
  ['Nacos-C-Client:v1.0.12', true],
  ['Nacos-C-Client:v1.0.9', false],
  ['vip-client4cpp:v1.1.0', true],
  ['Nacos-CSharp-Client:v0.9.0', true],
  ['Nacos-CSharp-Client:v0.8.9', false],
  ['Nacos-Python-Client:v0.1.17', false],
  ['Nacos-Java-Client', false],
  ['Nacos-Java-Client:vnext', false],
  ['curl/8.0', false],
  ['', false],
])('the agent %j is pushed to: %s', (agent, accepted) => {
  expect(acceptsPush(agent, DEFAULT_SWITCHES)).toBe(accepted)
})

test('a client below the version of the switch is not pushed to', () => {
  const switches = { ...DEFAULT_SWITCHES, pushJavaVersion: '1.10.0' }
  expect(acceptsPush('Nacos-Java-Client:v1.9.9', switches)).toBe(false)
  expect(acceptsPush('Nacos-Java-Client:v1.10', switches)).toBe(true)
})
