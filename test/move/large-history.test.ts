import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import mysql, { type Connection } from 'mysql2'
import { expect, inject, test } from 'vitest'
import { startMariadb } from '../probes/temporary-mariadb.ts'
import { needTool } from '../support/need-tool.ts'
import { schemaOf } from './old-schemas.ts'

const mariadb = needTool('mariadbd', 'mariadb-install-db')
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** 2 GB of contents. */
const PARTS = 20
const RECORDS_OF_PART = 1_000
const CONTENT_BYTES = 102_400
const MOST_MEMORY_KB = 300 * 1_024

/** Prints the most memory that the process had. */
const TELL_MEMORY =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(`maxRSS=${process.resourceUsage().maxRSS}\\n`))'

test('a history of 2 GB is planned within 300 MB', { timeout: 900_000 }, async ({ skip }) => {
  skip(mariadb.skip, mariadb.reason)
  const fast = ['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0', '--innodb-log-file-size=512M']
  const server = await startMariadb(
    ["CREATE USER moving@'127.0.0.1'", "GRANT ALL ON *.* TO moving@'127.0.0.1'", ...schemaOf('2.1', 'nacos')],
    fast,
  )
  const directory = mkdtempSync(join(inject('temporaryDirectory'), 'large-'))
  try {
    const connection = mysql.createConnection({
      host: '127.0.0.1',
      port: server.port,
      user: 'moving',
      database: 'nacos',
    })
    for (let part = 0; part < PARTS; part++) await insertPart(connection, part)
    connection.destroy()
    const file = join(directory, 'old.plan')
    const { code, stderr } = await moved([
      '--from',
      `mysql://moving@127.0.0.1:${server.port}/nacos`,
      '--plan',
      file,
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/maxRSS=\d+\n$/) })
    expect(Number(/maxRSS=(\d+)/.exec(stderr)![1])).toBeLessThan(MOST_MEMORY_KB)
    expect(await linesIn(file)).toBeGreaterThan(PARTS * RECORDS_OF_PART)
  } finally {
    rmSync(directory, { recursive: true, force: true })
    await server.stop()
  }
})

function insertPart(connection: Connection, part: number): Promise<void> {
  const sql = `INSERT INTO his_config_info (id, data_id, group_id, content, gmt_create, gmt_modified, op_type)
    SELECT 1, CONCAT('item-', seq % 100), 'G', REPEAT(MD5(seq + ${part * RECORDS_OF_PART}), ${CONTENT_BYTES / 32}), NOW(), NOW(), 'U'
    FROM seq_1_to_${RECORDS_OF_PART}`
  return new Promise((done, fail) => {
    connection.query(sql, (error) => (error === null ? done() : fail(error)))
  })
}

async function moved(args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const env = { ...process.env, WAYPOST_MYSQL_PASSWORD: '' }
  const child = spawn(process.execPath, ['--import', TELL_MEMORY, MAIN, 'move', ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, stderr }
}

async function linesIn(file: string): Promise<number> {
  let lines = 0
  for await (const chunk of createReadStream(file))
    for (const byte of chunk as Buffer) if (byte === 10) lines++
  return lines
}
