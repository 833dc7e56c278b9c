import type { JSX } from 'preact'
import type { AuditEntry } from '../api/api.ts'
import { hrefOf } from '../route.ts'
import { useApi } from '../session.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Pager, usePaging } from '../ui/pager.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { useResource } from '../ui/use-resource.ts'
import { useFormats, useWords } from '../words/words.ts'
import { changesBetween } from './changes.ts'

/** What no user's id can be. */
const COMMAND_LINE = 'command line'
/** Subjects of these are users. */
const OF_USERS = /^(?:user|user-quota|quota|balance|token)\./

/** Who changed what, the newest first. */
export function AuditPage(): JSX.Element {
  const words = useWords()
  const api = useApi()
  const paging = usePaging()
  const page = useResource(() => api.audit(paging.cursor), [api, paging.cursor])
  return (
    <>
      <h1>{words.audit.title}</h1>
      <p class="quiet">{words.audit.about}</p>
      <p class="buttons">
        <button type="button" onClick={() => (paging.number === 1 ? page.reload() : paging.first())}>
          {words.reload}
        </button>
      </p>
      <Loaded resource={page} lines={20}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? <p class="empty">{words.audit.empty}</p> : <Entries items={items} />}
            <Pager paging={paging} nextCursor={nextCursor} />
          </>
        )}
      </Loaded>
    </>
  )
}

function Entries({ items }: { items: readonly AuditEntry[] }): JSX.Element {
  const words = useWords()
  return (
    <Scroll label={words.audit.list}>
      <table class="audit">
        <thead>
          <tr>
            <th scope="col" class="number">
              #
            </th>
            <th scope="col">{words.audit.when}</th>
            <th scope="col">{words.audit.who}</th>
            <th scope="col">{words.audit.what}</th>
            <th scope="col">{words.audit.changed}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((entry) => (
            <Entry key={entry.seq} entry={entry} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Entry({ entry }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { seq, at, by, action } = entry
  return (
    <tr>
      <td class="number quiet">{formats.number(seq)}</td>
      <td class="no-wrap">{formats.dateTime(at)}</td>
      <td class="id">{by === COMMAND_LINE ? words.audit.commandLine : (by ?? '–')}</td>
      <td>
        {words.audit.actions[action]} <Subject entry={entry} />
      </td>
      <td>
        <Changes entry={entry} />
      </td>
    </tr>
  )
}

function Subject({ entry: { action, subject } }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  if (subject === null) return <>{words.audit.everybody}</>
  if (!OF_USERS.test(action)) return <code>{subject}</code>
  return (
    <a class="id" href={hrefOf('users', subject)}>
      {subject}
    </a>
  )
}

function Changes({ entry: { before, after } }: { entry: AuditEntry }): JSX.Element {
  const words = useWords()
  return (
    <ul class="changes">
      {changesBetween(before, after).map((change) => (
        <li key={change.path}>
          <code>{change.path}</code> {change.before !== undefined && <del>{change.before}</del>}
          {change.before !== undefined && ' → '}
          {change.after === undefined ? <span class="quiet">{words.audit.nothing}</span> : <ins>{change.after}</ins>}
        </li>
      ))}
    </ul>
  )
}
