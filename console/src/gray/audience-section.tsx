import { Ago } from '../controls/ago.tsx'
import { Notice } from '../controls/notice.tsx'
import { t } from '../language/text.ts'
import type { ConfigName } from '../server/configs.ts'
import type { GrayVersion } from '../server/gray.ts'
import { ruleOf, saidWhom, type Whom, WHOM_KINDS } from './for-whom.ts'
import { WhomFields } from './whom-fields.tsx'

/** The part of the review that says for whom the text is, and which gray version it would replace. */
export function WhomSection(props: {
  readonly name: ConfigName
  readonly whom: Whom
  readonly onChange: (whom: Whom) => void
  readonly gray: readonly GrayVersion[] | undefined
}) {
  const { name, whom, onChange, gray = [] } = props
  const grayName = ruleOf(whom)?.grayName
  const replaced = gray.find((version) => version.grayName === grayName)
  return (
    <div class="form">
      <WhomFields name={name} whom={whom} onChange={onChange} kinds={WHOM_KINDS} />
      {grayName !== undefined && <p class="soft">{t('grayNotesStay')}</p>}
      {grayName === undefined && gray.length > 0 && (
        <Notice kind="plain" icon="gray">
          {t('grayStays', { names: gray.map((version) => version.grayName).join(', ') })}
        </Notice>
      )}
      {replaced !== undefined && (
        <Notice kind="warn">
          <strong dir="auto">{t('grayReplaces', { name: replaced.grayName })}</strong>
          <div class="soft" dir="auto">
            {saidWhom(replaced)} · <Ago atMs={replaced.createTime} /> ·{' '}
            {replaced.createUser ?? replaced.createIp}
          </div>
        </Notice>
      )}
    </div>
  )
}
