import { useEffect } from 'preact/hooks'
import { useDoing } from '../controls/confirm.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import { namespaces } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { fillWithSample, keepSample, removeSample } from './sample.ts'

const ID = 'sample'

/** On a server for trying: fills it with a sample, and removes that. */
export function SampleCard({ onChanged }: { readonly onChanged: () => void }) {
  const isThere = useStore(namespaces)?.some(({ id }) => id === ID) ?? false
  const { isBusy, problem, run } = useDoing(async () => {
    await (isThere ? removeSample(ID) : fillWithSample(ID))
    onChanged()
  })
  useEffect(() => {
    // The page was loaded again.
    if (isThere) keepSample(ID)
  }, [isThere])
  return (
    <Notice kind="plain" icon="eye">
      <p>
        {t('forTrying')} {isThere && t('sampleText')}
      </p>
      <button type="button" class="button" disabled={isBusy} onClick={() => void run()}>
        {t(isThere ? 'removeSample' : 'fillSample')}
      </button>
      <ProblemNotice problem={problem} />
    </Notice>
  )
}
