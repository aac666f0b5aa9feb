package lakewarden.guard;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One message to the portal, as JSON in plain ASCII: the metastore's database may be latin1. */
final class Note {
  private final Map<String, Object> fields = new LinkedHashMap<>();

  Note with(String key, Object value) {
    fields.put(key, value);
    return this;
  }

  Note with(List<Breach> breaches) {
    List<Object> rules = new ArrayList<>();
    for (Breach breach : breaches) {
      Map<String, Object> rule = new LinkedHashMap<>();
      rule.put("rule", breach.rule);
      rule.put("text", breach.text);
      rules.add(rule);
    }
    return with("rules", rules);
  }

  boolean has(String key) {
    return fields.containsKey(key);
  }

  String json() {
    StringBuilder out = new StringBuilder();
    write(fields, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else if (value instanceof Map) {
      out.append('{');
      Iterator<? extends Map.Entry<?, ?>> entries = ((Map<?, ?>) value).entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry<?, ?> entry = entries.next();
        quote(String.valueOf(entry.getKey()), out);
        out.append(':');
        write(entry.getValue(), out);
        out.append(entries.hasNext() ? "," : "");
      }
      out.append('}');
    } else if (value instanceof Iterable) {
      out.append('[');
      Iterator<?> items = ((Iterable<?>) value).iterator();
      while (items.hasNext()) {
        write(items.next(), out);
        out.append(items.hasNext() ? "," : "");
      }
      out.append(']');
    } else {
      quote(value.toString(), out);
    }
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char sign = text.charAt(i);
      if (sign == '"' || sign == '\\') {
        out.append('\\').append(sign);
      } else if (sign < 0x20 || sign > 0x7e) {
        out.append(String.format("\\u%04x", (int) sign));
      } else {
        out.append(sign);
      }
    }
    out.append('"');
  }
}
