import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tellUndoable } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { growGray } from '../server/gray.ts'
import { isSaid, saidWhom, type Whom, whomOf } from './for-whom.ts'
import type { GrayDialogProps } from './stop-dialog.tsx'
import { WhomFields } from './whom-fields.tsx'

/** Gives a gray version to other clients; its text stays. */
export function GrowDialog({ name, version, onClose, onDone }: GrayDialogProps) {
  const { grayName, grayType, grayMatchRuleExp, md5: casMd5 } = version
  const [whom, setWhom] = useState<Whom>(whomOf(version))
  const give = (expr: string): Promise<boolean> =>
    growGray(name, { grayName, casMd5, grayMatchRuleExp: expr.trim() })
  const grow = async (): Promise<void> => {
    await give(whom.expr)
    tellUndoable(t('grayGrown', { name: grayName }), () => give(grayMatchRuleExp))
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={t('grayGrowTitle', { name: grayName })}
      done={t('save')}
      isDanger={false}
      isDisabled={!isSaid(whom) || whom.expr.trim() === grayMatchRuleExp}
      namespaceId={name.tenant}
      onClose={onClose}
      onDo={grow}
    >
      <NamespaceMark id={name.tenant} />
      <p dir="auto">{saidWhom(version)}</p>
      <p class="soft">{t('grayGrowText')}</p>
      <WhomFields
        name={name}
        whom={whom}
        onChange={setWhom}
        kinds={grayType === 'beta' ? ['clients', 'ips'] : [whom.kind]}
      />
    </Confirm>
  )
}
