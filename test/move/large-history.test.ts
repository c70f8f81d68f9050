import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import mysql, { type Connection } from 'mysql2'
import { expect, inject, test } from 'vitest'
import { startMariadb } from '../probes/temporary-mariadb.ts'
import { isNightly } from '../support/nightly.ts'
import { needTool } from '../support/need-tool.ts'
import { measuredMove, MOST_MEMORY_KB } from './measured-move.ts'
import { schemaOf } from './old-schemas.ts'

const mariadb = needTool('mariadbd', 'mariadb-install-db')

/** 2 GB of contents at night; by day more than the memory that a move may have. */
const PARTS = isNightly ? 20 : 5
const RECORDS_OF_PART = 1_000
const CONTENT_BYTES = 102_400

test(`a history of ${PARTS / 10} GB is planned within 300 MB`, { timeout: 900_000 }, async ({ skip }) => {
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
    const from = `mysql://moving@127.0.0.1:${server.port}/nacos`
    const made = await measuredMove(['--from', from, '--plan', file], { WAYPOST_MYSQL_PASSWORD: '' })
    expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/maxRSS=\d+\n$/) })
    expect(made.memoryKb).toBeLessThan(MOST_MEMORY_KB)
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

async function linesIn(file: string): Promise<number> {
  let lines = 0
  for await (const chunk of createReadStream(file))
    for (const byte of chunk as Buffer) if (byte === 10) lines++
  return lines
}
