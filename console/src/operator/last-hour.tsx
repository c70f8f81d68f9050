import { LINES, ServerLine } from '../charts/server-lines.tsx'
import { t } from '../language/text.ts'
import type { ClusterMember } from '../server/answers.ts'

/** The measurements of each server in the last hour; a server that was started later has fewer. */
export function LastHour({ members }: { members: readonly ClusterMember[] }) {
  const measured = members.filter(({ figures }) => figures !== undefined)
  if (measured.length === 0) return null
  return (
    <section>
      <h2>{t('lastHour')}</h2>
      <div class="card table-card" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t('address')}</th>
              {LINES.map(({ name, title }) => (
                <th key={name}>{t(title)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {measured.map(({ key, figures }) => (
              <tr key={key}>
                <td class="whole">
                  <strong>{key}</strong>
                </td>
                {LINES.map((line) => (
                  <td key={line.name}>
                    <ServerLine line={line} values={figures!.lines[line.name]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft note">{t('lastHourNote')}</p>
    </section>
  )
}
