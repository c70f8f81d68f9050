/** The bytes of a text that nobody sees: they stay as they are, and the page says what they are. */
import { beforeEach, describe, expect, test } from 'vitest'
import { unique } from '../interface/client.ts'
import { browserTool, type Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000

describe.skipIf(browserTool.skip)('line ends', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  beforeEach(async () => void (visit = await here.open()))

  const publish = async (dataId: string, content: string, more: Record<string, string> = {}) => {
    const answer = await here.client.post('/cs/configs', {
      group: 'G',
      dataId,
      content,
      type: 'text',
      ...more,
    })
    expect(answer.status).toBe(200)
  }
  const contentOf = async (dataId: string, tenant?: string) =>
    (await here.client.get('/cs/configs', { group: 'G', dataId, tenant })).bytes.toString()
  const edit = async (dataId: string): Promise<void> => {
    await visit.at(`#/config?ns=public&group=G&dataId=${dataId}&edit=yes`)
    await visit.page.locator('.cm-content').first().click()
    await visit.page.keyboard.press('Control+Home')
  }
  const review = async (): Promise<void> => {
    await visit.button('Review and publish').click()
    await visit.dialog().locator('.cm-content').first().waitFor()
  }
  const publishIt = async (): Promise<void> => {
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.locator('dialog[open]').waitFor({ state: 'detached' })
  }

  test('stay byte for byte where one letter is typed, in random texts', async () => {
    const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)]!
    for (let turn = 0; turn < 8; turn++) {
      const kinds = pick([['\r\n'], ['\r'], ['\n'], ['\r\n', '\n'], ['\r', '\n', '\r\n']])
      const lines = Array.from({ length: 12 }, (_, index) => [`key${index}: ä`, pick(kinds)] as const)
      const last = pick(['', 'no end'])
      const start = pick(['', '\uFEFF'])
      const text = start + lines.flat().join('') + last
      const dataId = unique('random')
      await publish(dataId, text)
      await edit(dataId)
      const line = Math.floor(Math.random() * lines.length)
      for (let down = 0; down < line; down++) await visit.page.keyboard.press('ArrowDown')
      await visit.page.keyboard.press('End')
      await visit.page.keyboard.type('Z')
      await review()
      await publishIt()
      const edited = lines.map(([own, end], index) => own + (index === line ? 'Z' : '') + end).join('')
      expect(JSON.stringify(await contentOf(dataId))).toBe(JSON.stringify(start + edited + last))
    }
  })

  test('are named in the bar, and a new line takes the one that most lines have', async () => {
    const dataId = unique('named')
    await publish(dataId, 'a\r\nb\r\nc\nd\r\n')
    await visit.at(`#/config?ns=public&group=G&dataId=${dataId}`)
    await visit.page.locator('.code-bar').getByText('mixed line ends').waitFor()
    await edit(dataId)
    await visit.page.keyboard.press('End')
    await visit.page.keyboard.press('Enter')
    await visit.page.keyboard.type('new')
    await review()
    expect(await visit.dialog().locator('.cm-changedLine .cm-line-end').count()).toBe(0)
    await publishIt()
    expect(await contentOf(dataId)).toBe('a\r\nnew\r\nb\r\nc\nd\r\n')
    for (const [text, name] of [
      ['a\r\nb', 'CRLF'],
      ['a\rb', 'CR'],
      ['\uFEFFa\nb', 'BOM'],
    ] as const) {
      const other = unique('bar')
      await publish(other, text)
      await visit.at(`#/config?ns=public&group=G&dataId=${other}`)
      await visit.page.locator('.code-bar .badge').getByText(name, { exact: true }).waitFor()
    }
  })

  test('that alone differ are reported in a comparison, between versions and in a review', async () => {
    const [left, right] = [unique('left'), unique('right')]
    await publish(left, 'a=1\r\nb=2\r\n')
    await publish(right, 'a=1\nb=2\n')
    const text = /Only the line ends differ: (CRLF|LF) on the left, (CRLF|LF) on the right\./
    await visit.at('#/configs?ns=public&group=G')
    await visit.field(`Select ${left}`).check()
    await visit.field(`Select ${right}`).check()
    await visit.button('Compare the two').click()
    await visit.dialog().getByText(text).waitFor()
    await visit.dialog().getByRole('button', { name: 'Close' }).last().click()

    // One line of a mixed text: it is shown on its own.
    const mixed = unique('mixed')
    await publish(mixed, 'a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj\r\n')
    await publish(mixed, 'a\r\nb\r\nc\r\nd\r\ne\nf\r\ng\r\nh\r\ni\r\nj\r\n')
    await visit.at(`#/config?ns=public&group=G&dataId=${mixed}&tab=versions`)
    await visit.button('Difference').first().click()
    const mark = visit.dialog().locator('.cm-changedLine', { has: visit.page.locator('.cm-line-end') })
    await mark.waitFor()
    expect(await mark.textContent()).toBe('eLF')
    await visit.dialog().getByText('Only the line ends differ').waitFor()
    await visit.dialog().getByText('A line whose end is not CRLF is marked.').waitFor()
    await visit.dialog().getByRole('button', { name: 'Close' }).last().click()

    // Going back to it: the review says the same, and the bytes are those of the old version.
    await visit.button('Restore').last().click()
    await visit.dialog().getByText('A line whose end is not CRLF is marked.').waitFor()
    await publishIt()
    expect(await contentOf(mixed)).toBe('a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni\r\nj\r\n')
  })

  test('stay in a merge, and in a clone', async () => {
    const dataId = unique('merged')
    await publish(dataId, 'one\r\ntwo\rthree\nfour\r\n')
    await edit(dataId)
    await visit.page.keyboard.type('Z')
    await publish(dataId, 'one\r\ntwo\rthree\nFOUR\r\n')
    await visit.button('Bring both together').click()
    await visit.dialog().getByRole('button', { name: 'Use the merged text' }).click()
    await review()
    await publishIt()
    const merged = 'Zone\r\ntwo\rthree\nFOUR\r\n'
    expect(await contentOf(dataId)).toBe(merged)
    await visit.at(`#/config?ns=public&group=G&dataId=${dataId}`)
    await visit.button('Clone').click()
    await visit.dialog().getByLabel('Data ID').fill(`${dataId}-copy`)
    await visit.dialog().getByRole('button').last().click()
    await visit
      .dialog()
      .getByText(/It would publish 1/)
      .first()
      .waitFor()
    await visit.dialog().getByRole('button').last().click()
    await visit.page.locator('dialog[open]').waitFor({ state: 'detached' })
    expect(await contentOf(`${dataId}-copy`)).toBe(merged)
  })

  test('come back when a removed line comes back', async () => {
    const dataId = unique('undone')
    await publish(dataId, 'a\rb\nc\n')
    await edit(dataId)
    await visit.page.keyboard.press('Shift+ArrowDown')
    await visit.page.keyboard.press('Delete')
    await visit.page.keyboard.press('Control+z')
    await visit.page.keyboard.press('Control+End')
    await visit.page.keyboard.type('Z')
    await review()
    await publishIt()
    expect(await contentOf(dataId)).toBe('a\rb\nc\nZ')
  })
})
