import type { JSX } from 'preact'
import type { AuditEntry } from '../../api/api.ts'
import { DEFAULTS } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { Text } from '../../ui/text.tsx'
import { When } from '../../ui/when.tsx'
import { useFormats, useWords } from '../../words/words.ts'
import { changesBetween } from './changes.ts'

/** The gateway's name for changes made on the command line. It has a space, so no user has it. */
const COMMAND_LINE = 'command line'
/** Actions whose subject is a user. */
const OF_USERS = /^(?:user|user-quota|quota|hold|balance|token)\./

interface EntriesProps {
  readonly items: readonly AuditEntry[]
}

export function Entries({ items }: EntriesProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  return (
    <ul class="entries audit" aria-label={words.audit.list}>
      {items.map((entry) => (
        <li key={entry.seq}>
          <p class="entry-title">
            <What entry={entry} />
          </p>
          <Changes entry={entry} />
          <p class="quiet small facts">
            <span>
              <Who entry={entry} />
            </span>
            <span>
              <When at={entry.at} />
            </span>
            <span class="seq">#{formats.number(entry.seq)}</span>
          </p>
        </li>
      ))}
    </ul>
  )
}

function Who({ entry: { by } }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  if (by === null) return <span>–</span>
  return <Text>{by === COMMAND_LINE ? words.audit.commandLine : by}</Text>
}

function What({ entry }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  return (
    <>
      {words.audit.actions[entry.action]} <Subject entry={entry} />
    </>
  )
}

function Subject({ entry: { action, subject } }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  if (subject === null) return <>{action === 'settings.change' ? words.audit.everybody : null}</>
  if (!OF_USERS.test(action)) return <code>{subject}</code>
  return <a href={hrefOf('users', subject)}>{subject}</a>
}

function Changes({ entry: { action, before, after } }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  // Before the first change the defaults applied, so show only what differs from them.
  const was = action === 'settings.change' ? (before ?? DEFAULTS) : before
  return (
    <ul class="changes">
      {changesBetween(was, after).map((change) => (
        <li key={change.path}>
          <code>{change.path}</code>{' '}
          {change.before !== undefined && (
            <del>
              <Text>{change.before}</Text>
            </del>
          )}
          {change.before !== undefined && ' → '}
          {change.after === undefined ? (
            <span class="quiet">{words.audit.nothing}</span>
          ) : (
            <ins>
              <Text>{change.after}</Text>
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
}
