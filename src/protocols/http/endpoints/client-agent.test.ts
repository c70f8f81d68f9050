import { expect, test } from 'vitest'
import { agentOf } from './config/http-viewer.ts'

test('without a User-Agent, Client-Version says which library asks', () => {
  const headers = { 'client-version': 'Nacos-Go-Client:v1.0.0' }
  expect(agentOf({ userAgent: '', headers })).toBe('Nacos-Go-Client:v1.0.0')
  expect(agentOf({ userAgent: 'curl/8.0', headers })).toBe('curl/8.0')
  expect(agentOf({ userAgent: '', headers: {} })).toBe('')
})
