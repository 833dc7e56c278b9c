import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { QuotaStatus, WindowStatus } from '../../api/documents.ts'
import { usePolicy } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Done } from '../../ui/notice.tsx'
import { useInterval } from '../../ui/use-interval.ts'
import type { Resource } from '../../ui/use-resource.ts'
import { useEnds } from '../../words/ends.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { ResetDialog } from './reset-dialog.tsx'

const REFRESH_MS = 5_000
/** From here on a window is nearly full. */
const NEAR = 0.8

/** What a user has used, as it is now. */
export function Usage({ id, status }: { id: string; status: Resource<QuotaStatus> }): JSX.Element {
  const words = useWords()
  const { categories } = usePolicy()
  const [isResetting, setResetting] = useState(false)
  const [isReset, setReset] = useState(false)
  useInterval(status.reload, REFRESH_MS)
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">{words.users.usage}</h2>
      <p class="quiet small">{words.users.usageAbout}</p>
      <Loaded resource={status} lines={12}>
        {({ windows }) =>
          categories.map((category) => <Bars key={category} category={category} windows={windows[category] ?? []} />)
        }
      </Loaded>
      <p class="buttons">
        <button type="button" class="danger" onClick={() => setResetting(true)}>
          {words.users.reset}
        </button>
        <Done>{isReset && words.users.resetDone}</Done>
      </p>
      {isResetting && (
        <ResetDialog
          id={id}
          onReset={(now) => {
            status.replace(now)
            setReset(true)
          }}
          onClose={() => setResetting(false)}
        />
      )}
    </section>
  )
}

function Bars({ category, windows }: { category: string; windows: readonly WindowStatus[] }): JSX.Element {
  const names = useNames()
  return (
    <div class="bars">
      <h3>{names.category(category)}</h3>
      {windows.map((each) => (
        <Bar key={`${each.layer} ${each.window}`} category={category} of={each} />
      ))}
    </div>
  )
}

function Bar({ category, of }: { category: string; of: WindowStatus }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { layer, window, limit, burst = limit, used, held, remaining, kind, enforced } = of
  const numberOf = (value: number | 'unlimited'): string =>
    value === 'unlimited' ? words.users.unlimited : formats.number(value)
  const share = shareOf(used, burst)
  const ends = useEnds(of, formats.dateTime)
  return (
    <div class="bar">
      <span class="bar-name">
        {names.layer(layer)} · {names.window(window)}
        {!enforced && <span class="tag not-enforced">{words.settings.notEnforced}</span>}
      </span>
      <span class="bar-used">
        {words.users.used(formats.number(used), numberOf(burst))}
        {held !== undefined && <span class="quiet small held">{words.users.held(formats.number(held))}</span>}
      </span>
      <meter aria-label={names.cell(layer, category, window)} class={share >= NEAR ? 'near' : ''} value={share} />
      <span class="quiet small">
        {words.users.left(numberOf(remaining))}
        {kind === 'bucket' && words.users.comesBack(numberOf(limit))}
      </span>
      <span class="quiet small end">{ends}</span>
    </div>
  )
}

/** From 0 to 1. A limit that was lowered below its use, or blocks, is full. */
function shareOf(used: number, limit: number | 'unlimited'): number {
  if (limit === 'unlimited') return 0
  return limit === 0 ? 1 : Math.min(1, used / limit)
}
