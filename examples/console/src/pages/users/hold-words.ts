import { useTexts } from '../../words/words.ts'

const en = {
  title: 'Open holds',
  about: 'Tokens and slots that requests in flight hold, until the request ends or you release them.',
  empty: 'No open holds.',
  hold: (operation: string, tokens: string) => `${operation}: ${tokens} tokens`,
  slot: 'and a slot',
  times: (since: string, until: string) => `since ${since}, until ${until} at the latest`,
  release: 'Release',
  releaseOf: (operation: string) => `Release the hold for ${operation}`,
  releaseTitle: 'Release this hold?',
  releaseAbout: (operation: string) =>
    `The tokens for ${operation} go back immediately. The work continues and isn’t charged.`,
}

const zh: typeof en = {
  title: '当前预留',
  about: '进行中的请求占用的额度和名额，直到请求结束或您释放它们。',
  empty: '没有预留。',
  hold: (operation, tokens) => `${operation}：${tokens} 点额度`,
  slot: '和一个名额',
  times: (since, until) => `自 ${since}，最迟至 ${until}`,
  release: '释放',
  releaseOf: (operation) => `释放 ${operation} 的预留`,
  releaseTitle: '释放此预留？',
  releaseAbout: (operation) => `${operation} 预留的额度立即退还。请求继续执行，不扣除额度。`,
}

export function useHoldWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
