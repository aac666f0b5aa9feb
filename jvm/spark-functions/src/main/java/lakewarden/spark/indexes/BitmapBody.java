package lakewarden.spark.indexes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.roaringbitmap.RoaringBitmap;
import org.roaringbitmap.RoaringBitmapWriter;

/** Writes the body of a bitmap: the dictionary, the null rows, and the rows by key or by bit. */
final class BitmapBody {
  private BitmapBody() {}

  /** The body of a bitmap by equality: `parts` are the packed rows of each key, in their order. */
  static byte[] byKey(
      byte[] dictionary, RoaringBitmapWriter<RoaringBitmap> nulls, List<byte[]> parts) {
    ByteBuffer body = headed(parts.size(), dictionary, nulls, parts);
    int offset = 0;
    body.putInt(0);
    for (byte[] part : parts) {
      offset += part.length;
      body.putInt(offset);
    }
    parts.forEach(body::put);
    return body.array();
  }

  /** The body of a bitmap by the bits of the rank: `parts` are the packed rows of each bit. */
  static byte[] bySlices(
      int count,
      byte[] dictionary,
      RoaringBitmapWriter<RoaringBitmap> nulls,
      List<byte[]> parts) {
    ByteBuffer body = headed(count, dictionary, nulls, parts);
    body.putInt(parts.size());
    parts.forEach(part -> body.putInt(part.length).put(part));
    return body.array();
  }

  private static ByteBuffer headed(
      int count,
      byte[] dictionary,
      RoaringBitmapWriter<RoaringBitmap> nulls,
      List<byte[]> parts) {
    byte[] nullRows = packed(nulls.get());
    int size = 12 + dictionary.length + nullRows.length + 4 + 4 * parts.size();
    size += parts.stream().mapToInt(part -> part.length).sum();
    ByteBuffer body = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    body.putInt(count).putInt(dictionary.length).put(dictionary);
    return body.putInt(nullRows.length).put(nullRows);
  }

  /** The bytes of a bitmap, as short as runs make them. */
  static byte[] packed(RoaringBitmap bitmap) {
    bitmap.runOptimize();
    ByteBuffer written = ByteBuffer.allocate(bitmap.serializedSizeInBytes());
    bitmap.serialize(written);
    return written.array();
  }
}
