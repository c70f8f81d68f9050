import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tellUndoable } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import type { ConfigName } from '../server/configs.ts'
import {
  type GrayVersion,
  type GrayVersionText,
  publishGray,
  readGrayText,
  stopGray,
} from '../server/gray.ts'
import { audienceText } from '../publishing/audience.ts'

/** The common properties of the dialogs about a gray version. */
export interface GrayDialogProps {
  readonly name: ConfigName
  readonly version: GrayVersion
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Ends a gray version. Undo publishes its text again, for the same clients. */
export function StopDialog({ name, version, onClose, onDone }: GrayDialogProps) {
  const { grayName, md5: casMd5 } = version
  const stop = async (): Promise<void> => {
    const text = await readGrayText(name, grayName)
    await stopGray(name, { grayName, casMd5 })
    tellUndoable(t('grayStopped', { name: grayName }), () => publishAgain(name, text))
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={t('grayStopTitle', { name: grayName })}
      done={t('grayStop')}
      namespaceId={name.tenant}
      onClose={onClose}
      onDo={stop}
    >
      <NamespaceMark id={name.tenant} />
      <p dir="auto">{audienceText(version)}</p>
      <p>{t('grayStopText')}</p>
      {version.grayType === 'percent' && <p class="soft">{t('grayStopShare')}</p>}
    </Confirm>
  )
}

function publishAgain(name: ConfigName, text: GrayVersionText): Promise<boolean> {
  const { grayName, grayType, grayMatchRuleExp, grayPriority, grayVersion, content, encryptedDataKey } = text
  const rule = { grayName, grayType, grayMatchRuleExp, grayPriority, grayVersion }
  const type = text.type ?? undefined
  return publishGray({
    ...name,
    ...rule,
    content,
    type,
    encryptedDataKey,
    casMd5: '',
    comment: t('undoneStop'),
  })
}
