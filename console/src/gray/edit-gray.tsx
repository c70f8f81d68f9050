import { useState } from 'preact/hooks'
import type { Base, Edit } from '../configs/edit.ts'
import { PublishFlow } from '../configs/publish-flow.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { CodeView } from '../editor/code-view.tsx'
import { guardEdit, useGuard } from '../frame/leave-dialog.tsx'
import { t } from '../language/text.ts'
import type { ConfigItem, ConfigName } from '../server/configs.ts'
import { type GrayVersionText, readGrayText } from '../server/gray.ts'
import { useLoaded } from '../state/loaded.ts'
import { ReviewButton } from '../configs/review-button.tsx'

interface EditProps {
  readonly name: ConfigName
  readonly formal: ConfigItem | undefined
  readonly grayName: string
  readonly onEnd: () => void
}

/** Edits the text of a gray version, as it was when the edit began. */
export function EditGray(props: EditProps) {
  const { name, grayName } = props
  const found = useLoaded(JSON.stringify([name, grayName]), () => readGrayText(name, grayName))
  if (found.value === undefined)
    return found.problem === undefined ? <p class="loading">{t('loading')}</p> : <LoadProblem found={found} />
  return <Editing {...props} version={found.value} />
}

function Editing({ name, formal, version, onEnd }: EditProps & { readonly version: GrayVersionText }) {
  const [text, setText] = useState(version.content)
  const [merges, setMerges] = useState(0)
  const [isReviewing, setReviewing] = useState(false)
  const nothing: Edit = { type: version.type ?? 'text', desc: '', appName: '', configTags: '', content: '' }
  const base: Base = formal ?? { ...name, ...nothing, md5: '' }
  const { type, desc, appName, configTags } = base
  // The browser keeps no draft of it: that is of the version for all.
  const hasEdit = text !== version.content
  useGuard(hasEdit ? { isKept: () => false, whyNot: 'grayNoDraft', drop: () => undefined } : undefined)
  return (
    <div class="stack">
      <div class="buttons">
        <ReviewButton isDisabled={!hasEdit || text.trim() === ''} onReview={() => setReviewing(true)} />
        <button type="button" class="button" onClick={onEnd}>
          {t('cancel')}
        </button>
      </div>
      <CodeView
        key={merges}
        text={text}
        type={type}
        label={t('grayVersionOf', { name: version.grayName })}
        onChange={setText}
        hasFocus
      />
      {isReviewing && (
        <PublishFlow
          ofGray={version}
          base={base}
          edit={{ type, desc, appName, configTags, content: text }}
          onClose={() => setReviewing(false)}
          onPublished={() => {
            guardEdit(undefined)
            onEnd()
          }}
          onMerged={(merged) => {
            setText(merged)
            setMerges(merges + 1)
          }}
        />
      )}
    </div>
  )
}
