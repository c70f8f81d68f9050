import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { TextField } from '../controls/field.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tell } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import type { ConfigItem } from '../server/configs.ts'
import { promoteGray } from '../server/gray.ts'
import { notePublish } from '../state/last-published.ts'
import type { GrayDialogProps } from './stop-dialog.tsx'

/**
 * Gives the text of a gray version to all. The md5 of the formal version that is shown is sent: one that somebody has changed
 * meanwhile is not replaced.
 */
export function PromoteDialog(
  props: GrayDialogProps & {
    readonly formal: ConfigItem | undefined
    /** How many gray versions end. */
    readonly count: number
    /** The view of both texts; absent: they are on the page. */
    readonly children?: ComponentChildren
  },
) {
  const { name, version, formal, count, onClose, onDone } = props
  const { grayName } = version
  const [comment, setComment] = useState('')
  const promote = async (): Promise<void> => {
    await promoteGray(name, { grayName, casMd5: formal?.md5 ?? '', comment })
    tell(t('published', { name: name.dataId }))
    notePublish(name)
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={t('grayPromoteTitle', { name: grayName })}
      done={t('grayPromote')}
      isDanger={false}
      isWide={props.children !== undefined}
      namespaceId={name.tenant}
      onClose={onClose}
      onDo={promote}
    >
      <NamespaceMark id={name.tenant} />
      {props.children}
      <p>{t('grayPromoteText', { count: shownNumber(count) })}</p>
      <TextField
        label={t('comment')}
        placeholder={t('commentHint')}
        value={comment}
        maxLength={512}
        hasFocus
        onInput={setComment}
      />
    </Confirm>
  )
}
