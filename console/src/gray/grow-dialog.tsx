import { useState } from 'preact/hooks'
import { Confirm } from '../controls/confirm.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { tellUndoable } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { growGray } from '../server/gray.ts'
import { isSaid, audienceText, type Audience, audienceOf } from '../publishing/audience.ts'
import type { GrayDialogProps } from './stop-dialog.tsx'
import { AudienceFields } from '../publishing/audience-fields.tsx'

/** Gives a gray version to other clients; its text stays. */
export function GrowDialog({ name, version, onClose, onDone }: GrayDialogProps) {
  const { grayName, grayType, grayMatchRuleExp, md5: casMd5 } = version
  const [audience, setAudience] = useState<Audience>(audienceOf(version))
  const give = (expr: string): Promise<boolean> =>
    growGray(name, { grayName, casMd5, grayMatchRuleExp: expr.trim() })
  const grow = async (): Promise<void> => {
    await give(audience.expr)
    tellUndoable(t('grayGrown', { name: grayName }), () => give(grayMatchRuleExp))
    onClose()
    onDone()
  }
  return (
    <Confirm
      title={t('grayGrowTitle', { name: grayName })}
      done={t('save')}
      isDanger={false}
      isDisabled={!isSaid(audience) || audience.expr.trim() === grayMatchRuleExp}
      namespaceId={name.tenant}
      onClose={onClose}
      onDo={grow}
    >
      <NamespaceMark id={name.tenant} />
      <p dir="auto">{audienceText(version)}</p>
      <p class="soft">{t('grayGrowText')}</p>
      <AudienceFields
        name={name}
        audience={audience}
        onChange={setAudience}
        kinds={grayType === 'beta' ? ['clients', 'ips'] : [audience.kind]}
      />
    </Confirm>
  )
}
