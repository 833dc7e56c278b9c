import { useTexts } from '../../words/words.ts'

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

export function useHoldWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
