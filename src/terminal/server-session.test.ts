import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PasswordInput } from '../command/password-input.ts'
import { ServerSession } from './server-session.ts'

let server: Server
let url: string
let seen: { path: string; authorization: string | undefined; body: string }[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  seen = []
  let count = 0
  answer = (_, response) =>
    response.end(JSON.stringify({ accessToken: `token-${++count}`, tokenTtl: 18_000 }))
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})

function sessionOf(username: string | undefined, typed: string): ServerSession {
  const input = new PassThrough()
  input.end(typed)
  const passwords = new PasswordInput(input as unknown as NodeJS.ReadStream)
  return new ServerSession(url, { username, passwords })
}

describe('a command that talks to a server', () => {
  test('signs in once, with one password, for requests at the same time', async () => {
    const session = sessionOf('ann', 'secret\nanother\n')
    const headers = await Promise.all([session.headers(), session.headers()])
    expect(headers).toEqual(Array(2).fill({ Authorization: 'Bearer token-1' }))
    expect(seen).toEqual([
      { path: '/svc/v1/auth/login', authorization: undefined, body: 'username=ann&password=secret' },
    ])
  })

  test('signs in again, without asking, when its token is about to end', async () => {
    let count = 0
    answer = (_, response) => response.end(JSON.stringify({ accessToken: `token-${++count}`, tokenTtl: 0 }))
    const session = sessionOf('ann', 'secret\n')
    expect(await session.headers()).toEqual({ Authorization: 'Bearer token-1' })
    expect(await session.headers()).toEqual({ Authorization: 'Bearer token-2' })
  })

  test('takes the password and the token of the environment', async () => {
    vi.stubEnv('WAYPOST_PASSWORD', 'of the environment')
    await sessionOf('ann', '').headers()
    expect(seen[0]?.body).toBe('username=ann&password=of+the+environment')
    vi.stubEnv('WAYPOST_ACCESS_TOKEN', 'given')
    expect(await sessionOf(undefined, '').headers()).toEqual({ Authorization: 'Bearer given' })
  })

  test('sends no password after a redirect', async () => {
    answer = ({ url: path }, response) =>
      path === '/elsewhere' ? response.end() : response.writeHead(307, { Location: '/elsewhere' }).end()
    await expect(sessionOf('ann', 'secret\n').headers()).rejects.toThrow(
      'does not sign in ann: the server answered 307',
    )
    expect(seen.map(({ path }) => path)).toEqual(['/svc/v1/auth/login'])
  })

  test('says who may not do it, or how to sign in', async () => {
    answer = ({ url: path }, response) => {
      if (path === '/svc/v1/auth/login')
        response.end(JSON.stringify({ accessToken: 'token', tokenTtl: 9_000 }))
      else response.writeHead(403).end(JSON.stringify({ detail: 'The caller is "not" permitted.' }))
    }
    const signedIn = sessionOf('ann', 'secret\n').fetch('/x')
    await expect(signedIn).rejects.toThrow(
      'The server refuses this: The caller is "not" permitted. It was asked as ann.',
    )
    const nobody = sessionOf(undefined, '').fetch('/x')
    await expect(nobody).rejects.toThrow('with --username NAME')
  })
})
