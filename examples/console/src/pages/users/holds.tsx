import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Hold } from '../../api/api.ts'
import { useApi } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useTexts } from '../../words/words.ts'

const REFRESH_MS = 5_000

interface HoldsProps {
  readonly id: string
  onChanged(): void
}

/** Shows a user's open holds. Nothing without one. */
export function Holds({ id, onChanged }: HoldsProps): JSX.Element | null {
  const words = useHoldWords()
  const api = useApi()
  const holds = useResource(() => api.holds(id), [api, id], REFRESH_MS)
  const [releasing, setReleasing] = useState<Hold>()
  const open = holds.data ?? []
  if (open.length === 0 && holds.error === undefined) return null
  return (
    <section aria-labelledby="holds">
      <h2 id="holds">{words.title}</h2>
      <p class="quiet small">{words.about}</p>
      <ErrorNotice error={holds.error} retry={holds.reload} />
      <ul class="credentials">
        {open.map((hold) => (
          <HoldRow key={hold.ref} hold={hold} onRelease={() => setReleasing(hold)} />
        ))}
      </ul>
      {releasing !== undefined && (
        <Confirm
          title={words.releaseTitle}
          about={words.releaseAbout(releasing.operation)}
          yes={words.release}
          act={async () => {
            await api.releaseHold(id, releasing.ref)
            holds.reload()
            onChanged()
          }}
          onClose={() => setReleasing(undefined)}
        />
      )}
    </section>
  )
}

function HoldRow({ hold, onRelease }: { hold: Hold; onRelease(): void }): JSX.Element {
  const words = useHoldWords()
  const formats = useFormats()
  const { operation, tokens, takenAt, endsAt } = hold
  return (
    <li>
      <span class="grow">
        {words.hold(operation, formats.number(tokens))}
        <span class="quiet small">{words.times(formats.dateTime(takenAt), formats.dateTime(endsAt))}</span>
      </span>
      <button type="button" class="danger" aria-label={words.releaseOf(operation)} onClick={onRelease}>
        {words.release}
      </button>
    </li>
  )
}

const en = {
  title: 'Open holds',
  about: 'Tokens that work in progress holds, until it ends or you release them.',
  hold: (operation: string, tokens: string) => `${operation}: ${tokens} tokens`,
  times: (since: string, until: string) => `since ${since}, until ${until} at the latest`,
  release: 'Release',
  releaseOf: (operation: string) => `Release the hold for ${operation}`,
  releaseTitle: 'Release this hold?',
  releaseAbout: (operation: string) =>
    `The tokens for ${operation} go back immediately. The work continues and isn’t charged.`,
}

const zh: typeof en = {
  title: '当前预留',
  about: '进行中的工作占用的额度，直到结束或您释放它们。',
  hold: (operation, tokens) => `${operation}：${tokens} 点额度`,
  times: (since, until) => `自 ${since}，最迟至 ${until}`,
  release: '释放',
  releaseOf: (operation) => `释放 ${operation} 的预留`,
  releaseTitle: '释放此预留？',
  releaseAbout: (operation) => `${operation} 预留的额度立即退还。请求继续执行，不扣除额度。`,
}

function useHoldWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
