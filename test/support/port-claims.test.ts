import { expect, test } from 'vitest'
import { claimPort } from './port-claims.ts'
import { freePort } from './waypost.ts'

test('a port is claimed once', async () => {
  const port = await freePort()
  expect(claimPort(port)).toBe(false)
})

test('no port is given twice', async () => {
  const ports: number[] = []
  for (let round = 0; round < 200; round++) ports.push(await freePort())
  expect(new Set(ports).size).toBe(200)
})
