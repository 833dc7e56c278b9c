import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditEntry } from '../../api/api.ts'
import { DEFAULTS } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Done } from '../../ui/notice.tsx'
import { Pager, usePaging } from '../../ui/pager.tsx'
import { plain } from '../../ui/text.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { usePartTexts } from './part-text.ts'
import { type Part, partsOf } from './reversal.ts'
import { UndoDialog } from './undo-dialog.tsx'
import { useHistoryWords } from './words.ts'

interface Version {
  readonly entry: AuditEntry
  readonly parts: readonly Part[]
}

export function HistoryPage(): JSX.Element {
  const words = useHistoryWords()
  const api = useApi()
  const paging = usePaging('before')
  const page = useResource(() => api.audit(paging.cursor, 'settings.change'), [api, paging.cursor])
  const [undoing, setUndoing] = useState<Version>()
  const [isUndone, setUndone] = useState(false)
  return (
    <>
      <p class="back">
        <a href={hrefOf('settings')}>← {words.back}</a>
      </p>
      <h1>{words.title}</h1>
      <p class="quiet">{words.about}</p>
      <Done>{isUndone && words.undone}</Done>
      <Loaded resource={page} lines={16}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? (
              <p class="empty">{words.empty}</p>
            ) : (
              <Versions items={items} isFirst={paging.cursor === null} onUndo={setUndoing} />
            )}
            <Pager paging={paging} nextCursor={nextCursor} />
          </>
        )}
      </Loaded>
      {undoing !== undefined && (
        <UndoDialog
          parts={undoing.parts}
          onUndone={() => {
            setUndoing(undefined)
            setUndone(true)
            if (paging.cursor === null) page.reload()
            else paging.first()
          }}
          onClose={() => setUndoing(undefined)}
        />
      )}
    </>
  )
}

interface VersionsProps {
  readonly items: readonly AuditEntry[]
  /** Whether these entries begin with the newest of all. */
  readonly isFirst: boolean
  onUndo(version: Version): void
}

function Versions({ items, isFirst, onUndo }: VersionsProps): JSX.Element {
  const history = useHistoryWords()
  const formats = useFormats()
  return (
    <ul class="entries versions" aria-label={history.list}>
      {items.map((entry, index) => {
        const { seq, at, by, before, after } = entry
        // The defaults applied before the first change, and apply again after a removal.
        const parts = partsOf(before ?? DEFAULTS, after ?? DEFAULTS)
        const number = formats.number(seq)
        return (
          <li key={seq}>
            <p class="entry-title">
              <span>#{number}</span>
              {isFirst && index === 0 && <span class="tag">{history.newest}</span>}
              <span class="quiet small">{history.by(by === null ? '–' : plain(by), formats.dateTime(at))}</span>
            </p>
            <PartList parts={parts} />
            {parts.length > 0 && (
              <button type="button" aria-label={history.undoOf(number)} onClick={() => onUndo({ entry, parts })}>
                {history.undo}
              </button>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function PartList({ parts }: { parts: readonly Part[] }): JSX.Element {
  const { colon } = useWords()
  const words = useHistoryWords()
  const texts = usePartTexts()
  if (parts.length === 0) return <p class="quiet">{words.nothing}</p>
  return (
    <ul class="changes">
      {parts.map((part) => (
        <li key={part.path}>
          {texts.name(part)}
          {colon}
          <del>{texts.value(part, part.before)}</del> → <ins>{texts.value(part, part.after)}</ins>
        </li>
      ))}
    </ul>
  )
}
