/** The editor, and the whole way to a published version without a pointer. */
import { beforeEach, describe, expect, test } from 'vitest'
import { clientsOf, md5 } from '../interface/client.ts'
import { browserTool, type Visit } from './chromium.ts'
import { consoleForThisFile } from './console-of-file.ts'

const FLOW_MS = 120_000
const MOST_TABS = 60

describe.skipIf(browserTool.skip)('the editor', { timeout: FLOW_MS }, () => {
  const here = consoleForThisFile()
  let visit: Visit
  beforeEach(async () => void (visit = await here.open()))

  const publish = (dataId: string, content: string) =>
    here.client.post('/cs/configs', { group: 'G', dataId, content, type: 'yaml' })
  const contentOf = async (dataId: string) =>
    (await here.client.get('/cs/configs', { group: 'G', dataId })).text

  test('folds, finds, and fills the screen', async () => {
    await publish('folds.yaml', 'server:\n  port: 80\n  host: here\nclient:\n  port: 81\n')
    await visit.at('#/config?ns=public&group=G&dataId=folds.yaml&edit=yes')
    const content = visit.page.locator('.cm-content')
    await content.getByText('here').waitFor()
    await visit.page.locator('.cm-foldGutter').getByTitle('Fold line', { exact: true }).first().click()
    await visit.page.locator('.cm-foldPlaceholder').waitFor()
    await content.getByText('here').waitFor({ state: 'detached' })
    await visit.page.locator('.cm-foldPlaceholder').click()
    await content.getByText('here').waitFor()
    await content.click()
    await visit.page.keyboard.press('Control+f')
    await visit.page.keyboard.type('81')
    await visit.page.locator('.cm-searchMatch').getByText('81').waitFor()
    expect(await visit.wrong()).toEqual([])
    await visit.page.keyboard.press('Escape')
    await visit.button('Full screen').click()
    await visit.page.locator('.code-place.full').waitFor()
    await visit.button('Leave full screen').click()
    await visit.page.locator('.code-place.full').waitFor({ state: 'detached' })
  })

  test.each([
    ['json', '{\n"a": 1, "a": 2}', 'Line 2: The key “a” occurs twice: the last one counts.'],
    ['properties', 'a=1\na=2', 'Line 2: The key “a” occurs twice: the last one counts.'],
    ['toml', 'a = 1\na = 2', 'Line 2: The key “a” occurs twice.'],
    ['xml', '<a>\n<b></a>', 'Line 2: The end tag “a” does not belong to the element that is open.'],
  ])('says on which line a text of %s is wrong', async (type, text, finding) => {
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill(`wrong.${type}`)
    await visit.type(text)
    await visit.button('Review and publish').click()
    await visit.dialog().getByText(finding).first().waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
    await visit.link('Cancel').click()
    await visit.button('Discard').click()
  })

  test('checks and colours a text by the end of its name, where clients of other servers set no type', async () => {
    const { nacos } = clientsOf(here.waypost.url)
    await nacos.post('/cs/configs', { group: 'G', dataId: 'bare.json', content: '{"a": 1,\n"a": 2}' })
    await visit.at('#/config?ns=public&group=G&dataId=bare.json&edit=yes')
    await visit.page.locator('.cm-content').getByText('"a"').first().waitFor()
    await visit.type('{"a": 1,\n"a": 3}')
    await visit.button('Review and publish').click()
    await visit.dialog().getByText('Line 2: The key “a” occurs twice: the last one counts.').first().waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
  })

  test('marks characters that nobody sees, and the review names them and the keys as they are written', async () => {
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('unseen.properties')
    await visit.type('a=1 \nb\u3000=2\n')
    await visit.page.locator('.cm-trailingSpace').waitFor()
    await visit.page.locator('.cm-specialChar').waitFor()
    await visit.button('Review and publish').click()
    const review = visit.dialog()
    await review.getByText('It may not be what you mean:').waitFor()
    await review.getByText('Line 1: The value of “a” ends with a blank').waitFor()
    await review.getByText('Line 2: The character U+3000').waitFor()
    await review.getByRole('listitem').getByText('1␣').waitFor()
    await review.getByRole('button', { name: 'Cancel' }).click()
    await visit.link('Cancel').click()
    await visit.button('Discard').click()
  })

  test('says why the keys cannot be listed', async () => {
    await publish('aliases.yaml', 'a: 1\n')
    await visit.at('#/config?ns=public&group=G&dataId=aliases.yaml&edit=yes')
    await visit.page.locator('.cm-content').getByText('a:').first().waitFor()
    await visit.type('files: [*.log]\n')
    await visit.button('Review and publish').click()
    await visit.dialog().getByText('The keys cannot be listed: Nothing has the anchor “.log”').waitFor()
    await visit.dialog().getByRole('button', { name: 'Cancel' }).click()
  })

  test('leaves out blanks at the ends of new names, and says so', async () => {
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('  blanks.yaml\u00a0')
    await visit.page.getByText('Blanks at the ends are left out.').waitFor()
    await visit.field('Group').fill(' G')
    await visit.type('a: 1')
    await visit.button('Review and publish').click()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await expect.poll(async () => contentOf('blanks.yaml')).toBe('a: 1')
  })

  test('is reached, used and left by keyboard alone, up to the published version', async () => {
    await publish('keys-only.yaml', 'a: 1\n')
    await visit.at('#/configs?ns=public')
    const { keyboard } = visit.page
    const focused = () =>
      visit.page.evaluate<string>(`(() => {
        const deep = (root) => root.activeElement?.shadowRoot ? deep(root.activeElement.shadowRoot) : root.activeElement
        const one = deep(document)
        return one?.ariaLabel || one?.labels?.[0]?.textContent || one?.textContent || ''
      })()`)
    const tabTo = async (name: string): Promise<void> => {
      for (let tab = 0; tab < MOST_TABS; tab++) {
        if ((await focused()).trim() === name) return
        await keyboard.press('Tab')
      }
      throw new Error(`${name} is not reached: ${await focused()}`)
    }
    await keyboard.press('/')
    await visit.dialog().getByRole('searchbox').waitFor()
    await keyboard.type('keys-only')
    await visit.dialog().getByText('keys-only.yaml').waitFor()
    await visit.settled()
    await keyboard.press('Enter')
    await visit.page.getByRole('heading', { name: 'keys-only.yaml' }).waitFor()
    await visit.settled()
    await tabTo('Edit')
    await keyboard.press('Enter')
    await visit.button('Review and publish').waitFor()
    await visit.settled()
    await tabTo('Content of keys-only.yaml')
    await keyboard.press('Control+End')
    await keyboard.type('b: 2')
    // Tab belongs to the text, until Escape.
    await keyboard.press('Escape')
    await keyboard.press('Tab')
    await tabTo('Review and publish')
    await keyboard.press('Enter')
    await visit.dialog().getByText('Changed keys (1)').waitFor()
    await tabTo('Comment')
    await keyboard.type('by keyboard')
    await keyboard.press('Enter')
    await visit.page.getByText('keys-only.yaml has been published.').waitFor()
    expect(await contentOf('keys-only.yaml')).toBe('a: 1\nb: 2')
  })

  test('of one item has nothing of the item before, also by a link to the edit itself', async () => {
    await publish('first.yaml', 'first: 1\n')
    await publish('second.yaml', 'second: 1\n')
    await visit.at('#/config?ns=public&group=G&dataId=first.yaml')
    await visit.page.getByText('first: ').waitFor()
    await visit.at('#/config?ns=public&group=G&dataId=second.yaml&edit=yes')
    await visit.page.locator('.cm-content').click()
    await visit.page.keyboard.press('Control+End')
    await visit.page.keyboard.type('more: 2')
    await visit.button('Review and publish').click()
    await visit.dialog().getByRole('button', { name: 'Publish' }).click()
    await visit.page.getByText('second.yaml has been published.').waitFor()
    expect(await contentOf('second.yaml')).toBe('second: 1\nmore: 2')
    expect(await contentOf('first.yaml')).toBe('first: 1\n')
  })

  test('each write says what its author has seen', async () => {
    const sent: string[] = []
    visit.page.on('request', (request) => {
      if (request.method() === 'GET' || !request.url().includes('/config')) return
      const params = new URLSearchParams(request.postData() ?? new URL(request.url()).search)
      sent.push(`${request.method()} ${params.get('casMd5')}`)
    })
    const publishes = async (): Promise<void> => {
      await visit.dialog().locator('.cm-content').first().waitFor()
      await visit.dialog().getByRole('button', { name: 'Publish' }).click()
      await visit.page.locator('dialog[open]').waitFor({ state: 'detached' })
    }
    await visit.at('#/config/new?ns=public')
    await visit.field('Data ID').fill('seen.yaml')
    await visit.field('Group').fill('G')
    await visit.type('a: 1')
    await visit.button('Review and publish').click()
    await publishes()
    await visit.link('Edit').click()
    await visit.type('a: 2')
    await visit.button('Review and publish').click()
    await publishes()
    await visit.link('Versions').click()
    await visit.button('Restore').click()
    await publishes()
    await visit.link('Content').click()
    await visit.button('Delete').click()
    await visit.dialog().getByRole('button', { name: 'Delete' }).click()
    await visit.page.getByText('Deleted: 1').waitFor()
    await visit.at('#/bin?ns=public')
    await visit.button('Restore').click()
    await publishes()
    const [one, two] = [md5('a: 1'), md5('a: 2')]
    expect(sent).toEqual(['POST ', `POST ${one}`, `POST ${two}`, `DELETE ${one}`, 'POST '])
  })
})
