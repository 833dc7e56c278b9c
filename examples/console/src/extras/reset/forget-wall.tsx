import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Adaptive } from '../../api/api.ts'
import { useApi } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/notice.tsx'
import { useResetWords } from './words.ts'

interface ForgetWallProps {
  /** Empty if there is no wall. */
  readonly levels: string
  onForgotten(adaptive: Adaptive): void
}

export function ForgetWall({ levels, onForgotten }: ForgetWallProps): JSX.Element {
  const words = useResetWords()
  const api = useApi()
  const [isAsking, setAsking] = useState(false)
  const [done, setDone] = useState('')
  return (
    <>
      {levels !== '' && (
        <p class="buttons">
          <button type="button" onClick={() => setAsking(true)}>
            {words.forget}
          </button>
        </p>
      )}
      {/* Stays when the wall is gone, so that screen readers announce it. */}
      <Done>{done}</Done>
      {isAsking && (
        <Confirm
          title={words.title}
          about={words.about(levels)}
          yes={words.forget}
          act={async () => {
            setDone('')
            onForgotten((await api.write((client) => client.POST('/admin/quota/adaptive/reset'))).data)
            setDone(words.forgotten)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
