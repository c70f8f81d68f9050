import { useEffect, useState } from 'preact/hooks'
import { NewNameField } from '../controls/new-name-field.tsx'
import { Icon } from '../controls/icon.tsx'
import { MayNotWrite } from '../controls/may-not.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice } from '../controls/notice.tsx'
import { CodeView } from '../editor/code-view.tsx'
import { guardEdit } from '../controls/leave-dialog.tsx'
import { t } from '../language/text.ts'
import { linkTo, viewAt } from '../routing/link.ts'
import { go } from '../state/location.ts'
import { ofConfig } from '../live/meant.ts'
import { type ConfigName, readConfig } from '../server/configs.ts'
import { useLoaded } from '../live/loaded.ts'
import { currentNamespace } from '../state/namespaces.ts'
import { mayWriteConfig, mayWriteConfigs } from '../state/user.ts'
import { linkToConfig } from '../routing/key-of.ts'
import { DraftNotice } from '../publishing/draft-notice.tsx'
import { baseOf } from '../publishing/drafts.ts'
import { NotesFields } from './notes-fields.tsx'
import { PublishFlow } from '../publishing/publish-flow.tsx'
import { useNewItem } from './use-new-item.ts'
import { formatOf, typeOfName } from '../publishing/format-of.ts'

const NAME = /^[\w.:-]+$/

/** Makes an item. It is published only if there is none of its name. */
export function NewConfig() {
  const tenant = currentNamespace()
  return mayWriteConfigs(tenant) ? (
    <NewConfigForm tenant={tenant} />
  ) : (
    <>
      <Crumbs namespaceId={tenant} />
      <div class="head">
        <h1 class="title">{t('newConfig')}</h1>
      </div>
      <MayNotWrite name={{ tenant }} />
    </>
  )
}

function Crumbs({ namespaceId }: { namespaceId: string }) {
  return (
    <p class="crumbs">
      <a href={linkTo('configs')}>{t('configs')}</a> <Icon name="right" />
      <NamespaceMark id={namespaceId} />
    </p>
  )
}

function NewConfigForm({ tenant }: { tenant: string }) {
  const item = useNewItem(tenant)
  const { draft, notes, base, text, merges, edit } = item
  const [dataId, group] = [item.dataId.trim(), item.group.trim()]
  const [isReviewing, setReviewing] = useState(false)
  const name = { tenant, group, dataId }
  const isName = NAME.test(dataId) && NAME.test(group)
  // After a merge the author knows that there is one.
  const isTaken = useIsThere(name, isName) && base.md5 === ''
  const isForeign = isName && !mayWriteConfig(name)
  const isReady = isName && !isTaken && !isForeign && text.trim() !== ''
  const wrong = (value: string) => (value !== '' && !NAME.test(value) ? t('nameRule') : undefined)
  return (
    <>
      <Crumbs namespaceId={name.tenant} />
      <div class="head">
        <h1 class="title">{t('newConfig')}</h1>
        <div class="buttons">
          <a class="button" href={linkTo('configs')}>
            {t('cancel')}
          </a>
          <button
            type="button"
            class="button primary"
            data-key="Control+Enter"
            aria-keyshortcuts="Control+Enter"
            disabled={!isReady}
            onClick={() => setReviewing(true)}
          >
            {t('review')}
          </button>
        </div>
      </div>
      {draft !== undefined && <DraftNotice atMs={draft.atMs} onDiscard={item.beginAgain} />}
      <div class="form">
        <div class="row">
          <NewNameField
            label={t('dataId')}
            hasFocus
            isCode
            value={item.dataId}
            maxLength={256}
            wrong={wrong(dataId)}
            onInput={(value) =>
              item.set({ dataId: value, notes: { ...notes, type: typeOfName(value.trim()) ?? notes.type } })
            }
          />
          <NewNameField
            label={t('group')}
            isCode
            value={item.group}
            maxLength={128}
            wrong={wrong(group)}
            onInput={(value) => item.set({ group: value })}
          />
        </div>
        {isForeign && <MayNotWrite name={name} />}
        {isTaken && (
          <Notice kind="warn">
            {t('nameTaken', { name: dataId })} <a href={linkToConfig(name)}>{t('openIt')}</a>
          </Notice>
        )}
        <div class="two">
          <CodeView
            key={merges}
            text={text}
            type={formatOf(notes.type, dataId)}
            label={t('content')}
            onChange={(value) => item.set({ text: value })}
          />
          <div class="card padded form">
            <NotesFields notes={notes} onChange={(changed) => item.set({ notes: changed })} />
          </div>
        </div>
      </div>
      {isReviewing && (
        <PublishFlow
          base={{ ...base, ...name, type: base.md5 === '' ? notes.type : base.type }}
          edit={edit}
          onClose={() => setReviewing(false)}
          onPublished={() => {
            guardEdit(undefined)
            item.drop()
            go(viewAt('config', { group, dataId }), { replace: true })
          }}
          onMerged={(merged, theirs) => item.set({ base: baseOf(theirs), text: merged, merges: merges + 1 })}
        />
      )}
    </>
  )
}

/** How long typing rests before the server is asked whether there is an item of the name. */
const WAIT_MS = 300

/** Whether there is an item of a name already, as far as the user may read it. */
function useIsThere(name: ConfigName, isName: boolean): boolean {
  const key = JSON.stringify(name)
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(isName ? key : ''), WAIT_MS)
    return () => clearTimeout(timer)
  }, [key, isName])
  const found = useLoaded(
    asked,
    async () => (asked === '' ? undefined : readConfig(JSON.parse(asked) as ConfigName)),
    ofConfig(name),
  )
  return asked === key && found.value !== undefined
}
