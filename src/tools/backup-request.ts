import { request } from 'node:http'
import { WrongArguments } from './tool-arguments.ts'

/** What a server answers of a backup that it made. */
export interface BackupOfServer {
  readonly path: string
  readonly size: number
  readonly revision: number
  readonly createdMs: number
  readonly checksum: string
}

const PATH = '/svc/v1/operator/backup'

/** Has a server make a backup; takes as long as that takes. Throws with the server's words where there is none. */
export async function askForBackup(url: string, label: string): Promise<BackupOfServer> {
  const query = label === '' ? '' : `?${new URLSearchParams({ label }).toString()}`
  return (await ask('POST', addressOf(url, PATH + query))) as BackupOfServer
}

/** How far a running backup has come; empty while there is none. */
export async function askForProgress(url: string): Promise<{ step?: string; done?: number; total?: number }> {
  return (await ask('GET', addressOf(url, PATH))) as { step?: string; done?: number; total?: number }
}

function addressOf(url: string, path: string): URL {
  const address = URL.parse(path, url)
  if (address?.protocol === 'http:') return address
  throw new WrongArguments(`"${url}" is not the address of a server: it looks like http://127.0.0.1:8848.`)
}

/** Without a limit of time: fetch gives up on an answer after five minutes. */
function ask(method: string, address: URL): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asking = request(address, { method, agent: false }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => (body += text))
      answer.once('error', reject)
      answer.once('end', () => {
        const read = parsed(body)
        if (answer.statusCode === 200 && read !== undefined) resolve(read)
        else
          reject(
            new Error(`The server answered ${answer.statusCode}: ${detailOf(read) ?? body.slice(0, 500)}`),
          )
      })
    })
    asking.once('error', (error) =>
      reject(
        new Error(`The server at ${address.origin} cannot be reached: ${error.message || 'no answer'}.`),
      ),
    )
    asking.end()
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
