import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Hold } from '../../api/documents.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useInterval } from '../../ui/use-interval.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'

const REFRESH_MS = 5_000

interface HoldsProps {
  readonly id: string
  onReleased(): void
}

/** Holds of a user's quota by requests in flight; empty where no operation can hold anything. */
export function Holds({ id, onReleased }: HoldsProps): JSX.Element | null {
  const words = useWords()
  const api = useApi()
  const { concurrency } = usePolicy()
  const holds = useResource(() => api.holds(id), [api, id])
  const [releasing, setReleasing] = useState<Hold>()
  useInterval(holds.reload, REFRESH_MS)
  const open = holds.data ?? []
  if (open.length === 0 && concurrency === undefined) return null
  return (
    <section aria-labelledby="holds">
      <h2 id="holds">{words.users.holds}</h2>
      <p class="quiet small">{words.users.holdsAbout}</p>
      <ErrorNotice error={holds.error} retry={holds.reload} />
      {open.length === 0 ? (
        <p class="empty">{words.users.noHolds}</p>
      ) : (
        <ul class="credentials">
          {open.map((hold) => (
            <HoldRow key={hold.ref} hold={hold} onRelease={() => setReleasing(hold)} />
          ))}
        </ul>
      )}
      {releasing !== undefined && (
        <Confirm
          title={words.users.releaseTitle}
          about={words.users.releaseAbout(releasing.operation)}
          yes={words.users.release}
          act={async () => {
            await api.releaseHold(id, releasing.ref)
            holds.reload()
            onReleased()
          }}
          onClose={() => setReleasing(undefined)}
        />
      )}
    </section>
  )
}

function HoldRow({ hold, onRelease }: { hold: Hold; onRelease(): void }): JSX.Element {
  const { users: words } = useWords()
  const formats = useFormats()
  const { operation, tokens, slot, takenAt, endsAt } = hold
  return (
    <li>
      <span class="grow">
        {words.holdOf(operation, formats.number(tokens))} {slot && words.holdSlot}
        <span class="quiet small">{words.holdTimes(formats.dateTime(takenAt), formats.dateTime(endsAt))}</span>
      </span>
      <button type="button" class="danger" aria-label={words.releaseOf(operation)} onClick={onRelease}>
        {words.release}
      </button>
    </li>
  )
}
