import { pattern, type Rules } from './rules.ts'

const LEAD = String.raw`^(?:(?:por favor|se faz favor|a partir de agora|de agora em diante|daqui em diante|no futuro|em geral|importante|regra|nota|e|mas|ok|sim|também|além disso|aliás)\b[,:]?\s+|(?:lembre-se|lembra-te|lembre|tenha em mente)\s+(?:de\s+)?(?:que\s+|:\s*)?)*`
const DO =
  '(?:respond|escrev|us|utiliz|reserv|envi|mand|coloqu?|fac|dig|ligu?|fal|traduz|resum|compr|pec|escolh|mostr|mantenh|inclu|adicion|salv|guard|execut|test|verifiqu?|avis|pagu?|cham|trat|agend|marqu?|confirm|prepar|coment|sugir|recomend|apagu?|compartilh|partilh|toqu?|mud|alter|cit|mencion|gast|copi|public?qu?|not|deix|ofereç|ofereca|imprim|abr)(?:[ae]s?|em|am|i|ia)(?:-(?:me|nos|lhe|o|a))?|faz|diz|poe|ponha'
const OBJECT = String.raw`(?:(?:me|nos|lhe|se|o|a)\s+)?`
const HABIT =
  '(?:como|bebo|viajo|voo|uso|trabalho|compro|tomo|visto|quero|preciso|dirijo|conduzo|cozinho|pago|reservo|fumo|escrevo|utilizo|ando)'

export const PORTUGUESE: Rules = {
  constraint: pattern(
    String.raw`${LEAD}(?:nunca|jamais|sempre|não)\s+${OBJECT}(?:${DO})\b\s*\S`,
    String.raw`${LEAD}${OBJECT}(?:${DO})\s+(?:\S+\s+){0,3}?(?:sempre|nunca)\b`,
    String.raw`${LEAD}(?:nunca|jamais)\s+(?:antes|depois|em|aos|às|no|na|por|sem|com|mais de)\s+\S+`,
    String.raw`\b(?:você|tu|nós|a gente)\s+(?:deve|deves|devemos|tem que|tens de|tem de|precisa)\s+(?:sempre|nunca)\b`,
    String.raw`\b(?:sempre|nunca)\s+(?:deve|deves|devem)\b`,
    String.raw`${LEAD}(?:você\s+)?não\s+(?:deve|deves|pode|podes)\s+\p{L}+[aei]r\b`,
    String.raw`\bquero\s+que\s+(?:você\s+|tu\s+)?(?:sempre|nunca)\s+\p{L}`,
    String.raw`${LEAD}(?:eu\s+)?(?:nunca|sempre|não)\s+${HABIT}\b(?!\s+(?:antes|você|ela|ele|isso|sempre|o que|que)\b)\s+\S`,
    String.raw`${LEAD}(?:todos os|todas as|cada|meus|minhas|os|as|o|a)\s+\p{L}+\s+(?:deve|devem|tem de|têm de|tem que)\s+\p{L}+[aei]r\b`,
  ),
  preference: pattern(
    String.raw`\b(?:prefiro|preferimos|preferia|odeio|detesto|odiamos|adoro)\b(?!\s+(?:não\s+(?:saber|dizer)|isso|isto)\b)\s+\S`,
    String.raw`\b(?:gosto|gostamos)\s+(?:muito\s+|mais\s+)?d[eoa]s?\b(?!\s+(?:isso|isto|sua|tua|ideia)\b)\s+\S`,
    String.raw`\b(?:meus?|minhas?)\s+\p{L}+\s+(?:favorit|preferid|predilet)[oa]s?\s+(?:é|são)\b`,
    String.raw`\b(?:é|são)\s+(?:o\s+|a\s+)?(?:meu|minha)\s+\p{L}+\s+(?:favorit|preferid)`,
  ),
  correction: pattern(
    String.raw`^(?:não[,.]?\s+)?(?:na verdade|na realidade),?\s+(?:\S+\s+){2,}\S`,
    String.raw`^(?:não[,.]?\s+)?(?:eu\s+)?(?:quis|queria)\s+dizer\s+\S`,
    String.raw`^correção:\s+\S`,
    String.raw`^(?:não[,.]?\s+)?(?:isso\s+)?está\s+(?:errado|incorreto)[,;:]\s*\S`,
  ),
  decision: pattern(
    String.raw`\b(?:decidimos|resolvemos|decidi)\s+(?:que|não|por|\p{L}+r)\b`,
    String.raw`\b(?:foi|ficou)\s+decidido\b`,
    String.raw`^vamos\s+(?:ficar|seguir)\s+com\s+(?!isso\b|ela\b)\S+\s+\S`,
  ),
  remember: pattern(
    String.raw`^(?:(?:por favor|e|ok)\b,?\s+)*(?:lembre-se|lembra-te|lembre|tenha em mente|não esqueça|não te esqueças|anote|anota)(?:\s+de)?(?:\s+que\b|:|,)?\s+(?!quando\b|daquel)\S+\s+\S`,
  ),
  self: pattern(
    String.raw`^(?:(?:eu\s+)?sou\s+(?:vegetarian\p{L}*|vegan\p{L}*|alérgic\p{L}*|celíac\p{L}*)|(?:eu\s+)?me chamo|meu nome é|moro em|me chame de|chama-me)(?!\p{L})\s*\S*`,
  ),
  leftOut: pattern(
    String.raw`^(?:por que|porque|como\s+(?:posso|faço)|quando|quem|qual|devo|pode|posso|você\s+(?:sempre|nunca)\s+\p{L}+\?)\b`,
    String.raw`\b(?:imagine|imagina|suponha\p{L}*|supondo|se eu fosse|hipoteticamente)\b`,
    String.raw`\b(?:disse|diz|dizem|disseram|dizia|segundo|perguntou|escreveu|afirma|ouvi|li)\b`,
  ),
  passing: pattern(
    String.raw`\b(?:por enquanto|por agora|no momento|desta vez|dessa vez|hoje à noite|ainda)\b`,
  ),
}
