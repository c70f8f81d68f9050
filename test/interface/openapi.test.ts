import { expect, test } from 'vitest'
import { apiDocument } from '../../src/server/doors/api-document.ts'
import { Client, serverForThisFile } from './client.ts'

const waypost = serverForThisFile()

test('the server has its document at /openapi.json, with the limits that it checks', async () => {
  const answer = await new Client(waypost.server.url).get('/openapi.json')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.json()).toEqual(JSON.parse(apiDocument()))
  expect(answer.text).toMatch(/"maximum":65535/)
  expect(answer.text).toMatch(/"maximum":10000/)
})
