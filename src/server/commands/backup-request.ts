import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { noAnswer } from '../../terminal/no-answer.ts'
import type { ServerSession } from '../../terminal/server-session.ts'

/** The answer of a server that made a backup. */
export interface BackupOfServer {
  readonly path: string
  readonly size: number
  readonly revision: number
  readonly createdMs: number
  readonly checksum: string
}

const PATH = '/svc/v1/operator/backup'

/** Asks a server to make a backup, and waits for it. Rejects with the message of the server if it makes none. */
export async function requestBackup(session: ServerSession, label: string): Promise<BackupOfServer> {
  const query = label === '' ? '' : `?${new URLSearchParams({ label }).toString()}`
  return (await ask('POST', PATH + query, session)) as BackupOfServer
}

/** The progress of a running backup; empty if none is running. */
export async function requestProgress(
  session: ServerSession,
): Promise<{ step?: string; done?: number; total?: number }> {
  return (await ask('GET', PATH, session)) as { step?: string; done?: number; total?: number }
}

function addressOf(url: string, path: string): URL {
  return new URL(path, url)
}

/** Has no time limit; fetch stops waiting after five minutes. */
async function ask(method: string, path: string, session: ServerSession): Promise<unknown> {
  const address = addressOf(session.url, path)
  const headers = await session.headers()
  const request = address.protocol === 'https:' ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const sent = request(address, { method, headers, agent: false }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => (body += text))
      answer.once('error', reject)
      answer.once('end', () => {
        const parsedBody = parsed(body)
        if (answer.statusCode === 200 && parsedBody !== undefined) resolve(parsedBody)
        else if (answer.statusCode === 403) reject(session.refused(body))
        else
          reject(
            new Error(
              `The server answered ${answer.statusCode}: ${detailOf(parsedBody) ?? body.slice(0, 500)}`,
            ),
          )
      })
    })
    sent.once('error', (error) => reject(noAnswer(address.origin, error, session.origin)))
    sent.end()
  })
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function detailOf(read: unknown): string | undefined {
  const detail = typeof read === 'object' && read !== null && 'detail' in read ? read.detail : undefined
  return typeof detail === 'string' ? detail : undefined
}
